#include "tensor/cell_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/check.hpp"
#include "tensor/cell_move.hpp"

namespace eindb {
namespace {

double extent_of(const Labels& labels, const LabelTable& table) {
  double extent = 1;
  for (const auto label : labels) extent *= static_cast<double>(table.extent(label));
  return extent;
}

// Of `places` that are equally likely, the expected number that `draws` hit.
double places_hit(double places, double draws) {
  return places > 0 ? -places * std::expm1(-std::min(draws / places, 700.0)) : 0;
}

// An operand of cells with what is known of it, or what must hold if nothing is.
struct CellOperand {
  const Labels* labels;
  double cells;
  std::vector<double> indices;  // that have cells along each dimension; all where that is not known
  std::vector<double> degrees;  // the most cells of one index

  std::size_t place_of(Label label) const {
    return static_cast<std::size_t>(std::find(labels->begin(), labels->end(), label) - labels->begin());
  }
  bool has(Label label) const { return place_of(label) < labels->size(); }
};

class CellEstimator {
 public:
  CellEstimator(const EinSum& einsum, const LabelTable& table, const OperandCells& cells, CellPattern pattern)
      : einsum_(einsum), table_(table), pattern_(pattern), labels_(einsum.labels()) {
    CHECK(cells.size() == einsum.inputs.size(), "of every operand it is said whether it is of cells");
    for (std::size_t n = 0; n < cells.size(); ++n)
      if (cells[n]) add(einsum.inputs[n], *cells[n]);
    for (const auto label : labels_)
      if (!is_of_cells(label)) unbound_ *= static_cast<double>(table.extent(label));
  }

  double steps() const { return std::min(expected(), most()); }

  double most() const {
    double least = unbound_ * sum_or_product();
    if (pattern_ == CellPattern::Union) return least;
    for (std::size_t n = 0; n < operands_.size(); ++n) {
      Labels bound = *operands_[n].labels;
      least = std::min(least, unbound_ * extended(operands_[n].cells, bound, n));
    }
    if (is_covered_twice()) {
      double root = unbound_;
      for (const auto& operand : operands_) root *= std::sqrt(operand.cells);
      least = std::min(least, root);
    }
    return least;
  }

  CellEstimate results() const {
    CellEstimate out{.cells = result_cells(), .spread = {}};
    if (!knows_spread_) return out;
    for (const auto label : einsum_.output) {
      const auto indices = std::min(indices_of(label), out.cells);
      const auto most = std::min({degree_of(label), out.cells, places_without(label)});
      out.spread.push_back({indices, std::max(most, indices > 0 ? out.cells / indices : 0)});
    }
    return out;
  }

 private:
  void add(const Labels& labels, const CellEstimate& estimate) {
    const auto& spread = estimate.spread;
    CHECK(spread.empty() || spread.size() == labels.size(), "cells lie along the dimensions of their operand");
    const auto all = extent_of(labels, table_);
    CellOperand operand{&labels, std::min(estimate.cells, all), {}, {}};
    knows_spread_ = knows_spread_ && (!spread.empty() || labels.empty());
    for (std::size_t d = 0; d < labels.size(); ++d) {
      const auto extent = static_cast<double>(table_.extent(labels[d]));
      const auto across = extent > 0 ? all / extent : 0;
      operand.indices.push_back(spread.empty() ? extent : std::clamp(spread[d].indices, 0.0, extent));
      operand.degrees.push_back(std::min({spread.empty() ? across : spread[d].degree, across, operand.cells}));
    }
    operands_.push_back(std::move(operand));
  }

  bool is_of_cells(Label label) const {
    return std::any_of(operands_.begin(), operands_.end(),
                       [&](const CellOperand& operand) { return operand.has(label); });
  }

  double sum_or_product() const {
    const bool is_union = pattern_ == CellPattern::Union;
    double all = is_union ? 0 : 1;
    for (const auto& operand : operands_) all = is_union ? all + operand.cells : all * operand.cells;
    return all;
  }

  double expected() const {
    if (pattern_ == CellPattern::Union) {
      const auto places = extent_of(labels_, table_);
      double absent = 1;
      for (const auto& operand : operands_) absent *= 1 - (places > 0 ? operand.cells / places * unbound_ : 0);
      return places * (1 - absent);
    }
    double points = unbound_;
    for (const auto& operand : operands_) points *= operand.cells;
    for (const auto label : labels_) points *= share_matched(label);
    return points;
  }

  // Of all combinations of cells, those that agree along the label.
  double share_matched(Label label) const {
    double all = 1;
    double fewest = std::numeric_limits<double>::infinity();
    bool any = false;
    for (const auto& operand : operands_) {
      if (!operand.has(label)) continue;
      const auto indices = std::max(1.0, operand.indices[operand.place_of(label)]);
      all *= indices;
      fewest = std::min(fewest, indices);
      any = true;
    }
    return any ? fewest / all : 1;
  }

  // How many points `count` become, which have values of the labels in `bound`, where the operands other than `from`
  // are joined with them, always the one that gives the fewest.
  double extended(double count, Labels& bound, std::size_t from) const {
    std::vector<bool> joined(operands_.size(), false);
    if (from < joined.size()) joined[from] = true;
    for (std::size_t left = operands_.size() - (from < joined.size() ? 1 : 0); left > 0; --left) {
      std::size_t next = 0;
      double fewest = std::numeric_limits<double>::infinity();
      for (std::size_t n = 0; n < operands_.size(); ++n) {
        const auto factor = joined[n] ? fewest : matches(operands_[n], bound);
        if (joined[n] || factor >= fewest) continue;
        fewest = factor;
        next = n;
      }
      joined[next] = true;
      count *= fewest;
      append_distinct(bound, *operands_[next].labels);
    }
    return count;
  }

  // The most cells of the operand that agree with one value of each bound label.
  static double matches(const CellOperand& operand, const Labels& bound) {
    double most = operand.cells;
    double places = 1;
    for (std::size_t d = 0; d < operand.labels->size(); ++d) {
      if (contains(bound, (*operand.labels)[d])) most = std::min(most, operand.degrees[d]);
      else places *= operand.indices[d];
    }
    return std::min(most, places);
  }

  bool is_covered_twice() const {
    return std::all_of(labels_.begin(), labels_.end(), [&](Label label) {
      const auto holders = std::count_if(operands_.begin(), operands_.end(),
                                         [&](const CellOperand& operand) { return operand.has(label); });
      return holders == 0 || holders >= 2;
    });
  }

  // The indices of the result along a label.
  double indices_of(Label label) const {
    const auto extent = static_cast<double>(table_.extent(label));
    double fewest = extent;
    double sum = 0;
    for (const auto& operand : operands_) {
      if (!operand.has(label)) continue;
      fewest = std::min(fewest, operand.indices[operand.place_of(label)]);
      sum += operand.indices[operand.place_of(label)];
    }
    return pattern_ == CellPattern::Union ? std::min(extent, sum) : fewest;
  }

  double places() const {
    double all = 1;
    for (const auto label : einsum_.output) all *= indices_of(label);
    return all;
  }
  double places_without(Label label) const {
    double all = 1;
    for (const auto other : einsum_.output)
      if (other != label) all *= indices_of(other);
    return all;
  }

  double degree_of(Label label) const {
    if (pattern_ == CellPattern::Union) {
      double sum = 0;
      for (const auto& operand : operands_) sum += operand.degrees[operand.place_of(label)];
      return sum;
    }
    const auto extent = static_cast<double>(table_.extent(label));
    if (!is_of_cells(label)) return extent > 0 ? most() / extent : 0;
    Labels bound{label};
    return unbound_ * extended(1, bound, operands_.size());
  }

  double result_cells() const {
    const auto all = extent_of(einsum_.output, table_);
    if (pattern_ == CellPattern::Union) return std::min(all, places_hit(all, steps()));
    // Operands whose labels the result has bound it by themselves; those of the others meet for some aggregated index.
    const auto space = places();
    double bound = space;
    double from_there = space;
    for (const auto& operand : operands_) {
      double inside = 1;
      bool is_inside = true;
      for (std::size_t d = 0; d < operand.labels->size(); ++d) {
        if (contains(einsum_.output, (*operand.labels)[d])) inside *= operand.indices[d];
        else is_inside = false;
      }
      if (inside == 0) return 0;
      bound *= (is_inside ? std::min(inside, operand.cells) : places_hit(inside, operand.cells)) / inside;
      if (is_inside) from_there *= std::min(1.0, operand.cells / inside);
    }
    // Without aggregated labels every point is a cell of its own.
    const auto hit = einsum_.aggregated.empty() ? steps() : places_hit(from_there, steps());
    return std::min({all, from_there, bound, hit});
  }

  const EinSum& einsum_;
  const LabelTable& table_;
  const CellPattern pattern_;
  const Labels labels_;
  std::vector<CellOperand> operands_;
  double unbound_ = 1;  // the values of the labels that no operand of cells has
  bool knows_spread_ = true;
};

}  // namespace

namespace {

// The operand whose cells an EinSum moves, if that is all it does.
std::optional<std::size_t> moved_operand(const EinSum& einsum, const OperandCells& cells) {
  std::vector<bool> of_cells;
  for (const auto& count : cells) of_cells.push_back(count.has_value());
  const auto move = cell_move(einsum, of_cells);
  return move ? std::optional(move->source) : std::nullopt;
}

// As densely spread over the result as over the operand.
double moved_cells(const EinSum& einsum, const LabelTable& labels, const OperandCells& cells, std::size_t source) {
  const auto all = extent_of(einsum.inputs[source], labels);
  const auto made = extent_of(einsum.output, labels);
  return all > 0 ? std::min(made, cells[source]->cells / all * made) : 0;
}

}  // namespace

double cell_steps(const EinSum& einsum, const LabelTable& labels, const OperandCells& cells, CellPattern pattern) {
  if (const auto source = moved_operand(einsum, cells))
    return cells[*source]->cells + moved_cells(einsum, labels, cells, *source);
  return CellEstimator(einsum, labels, cells, pattern).steps();
}

double most_cell_steps(const EinSum& einsum, const LabelTable& labels, const OperandCells& cells, CellPattern pattern) {
  return CellEstimator(einsum, labels, cells, pattern).most();
}

CellEstimate cell_results(const EinSum& einsum, const LabelTable& labels, const OperandCells& cells,
                          CellPattern pattern) {
  if (const auto source = moved_operand(einsum, cells))
    return {.cells = moved_cells(einsum, labels, cells, *source), .spread = {}};
  return CellEstimator(einsum, labels, cells, pattern).results();
}

}  // namespace eindb
