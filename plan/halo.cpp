#include "plan/halo.hpp"

#include <algorithm>
#include <optional>

#include "plan/ein_graph.hpp"
#include "tensor/access_form.hpp"

namespace eindb {
namespace {

// The equations of an access; none if an operand has some of its indices.
std::vector<IndexEquation> equations_of(const EinSum& einsum) {
  std::vector<IndexEquation> out;
  if (einsum.expression == nullptr) return out;
  const auto form = access_form(einsum);
  if (!form || form->gathers()) return out;
  for (const auto& determined : form->determined) {
    IndexEquation equation{{{determined.label, 1}}, 0};
    bool holds = !__builtin_sub_overflow(0, determined.offset, &equation.offset);
    for (const auto& [label, coefficient] : determined.coefficients) {
      std::int64_t negative = 0;
      holds = holds && !__builtin_sub_overflow(0, coefficient, &negative);
      equation.terms.emplace_back(label, negative);
    }
    if (holds) out.push_back(std::move(equation));
  }
  return out;
}

// Adds the bounds of factor * label.
bool add_bounds(std::int64_t factor, std::int64_t extent, Reach& reach) {
  std::int64_t last = 0;
  return !__builtin_mul_overflow(factor, extent - 1, &last) &&
         !__builtin_add_overflow(reach.least, std::min<std::int64_t>(last, 0), &reach.least) &&
         !__builtin_add_overflow(reach.most, std::max<std::int64_t>(last, 0), &reach.most);
}

// divisor * label = step * leader + (least to most), from the equation.
std::optional<Reach> reach_of(const IndexEquation& equation, Label label, Label leader, const LabelTable& table) {
  Reach reach{.extent = table.extent(leader)};
  std::int64_t sign = 1;
  for (const auto& [other, coefficient] : equation.terms) {
    if (other != label) continue;
    sign = coefficient < 0 ? 1 : -1;
    if (__builtin_mul_overflow(coefficient, -sign, &reach.divisor)) return std::nullopt;
  }
  if (__builtin_mul_overflow(equation.offset, sign, &reach.least)) return std::nullopt;
  reach.most = reach.least;
  for (const auto& [other, coefficient] : equation.terms) {
    if (other == label) continue;
    std::int64_t factor = 0;
    if (__builtin_mul_overflow(coefficient, sign, &factor)) return std::nullopt;
    if (other == leader) reach.step = factor;
    else if (!add_bounds(factor, table.extent(other), reach)) return std::nullopt;
  }
  return reach;
}

}  // namespace

bool has_term(const IndexEquation& equation, Label label) {
  return std::any_of(equation.terms.begin(), equation.terms.end(),
                     [&](const auto& term) { return term.first == label; });
}

HaloFinder::HaloFinder(std::vector<Operand> operands, const Labels& output, const std::vector<const EinSum*>& steps)
    : operands_(std::move(operands)) {
  for (const auto* step : steps) {
    const auto equations = equations_of(*step);
    if (equations.empty()) continue;
    const auto is_elsewhere = [&](Label label) {
      return contains(output, label) || std::any_of(steps.begin(), steps.end(), [&](const EinSum* other) {
               return other != step && contains(other->labels(), label);
             });
    };
    for (std::size_t n = 0; n < operands_.size(); ++n) {
      const auto& labels = operands_[n].labels;
      for (std::size_t d = 0; d < labels.size(); ++d) {
        const auto label = labels[d];
        std::ptrdiff_t places = 0;
        for (const auto& operand : operands_) places += std::count(operand.labels.begin(), operand.labels.end(), label);
        const auto in_equation = [&](const IndexEquation& equation) { return has_term(equation, label); };
        const auto found = std::find_if(equations.begin(), equations.end(), in_equation);
        if (places != 1 || found == equations.end() || is_elsewhere(label) ||
            std::count_if(equations.begin(), equations.end(), in_equation) != 1)
          continue;
        readings_.push_back({label, n, d, *found});
      }
    }
  }
}

std::vector<Halo> HaloFinder::halos(const LabelPartition& partition, const LabelTable& labels) const {
  struct Found {
    Halo halo;
    const Reading* reading;
    std::int64_t parts;
  };
  std::vector<Found> found;
  const auto is_cut = [&](Label label) { return contains(partition.labels, label) && partition.of(label) > 1; };
  for (const auto& reading : readings_) {
    if (is_cut(reading.label)) continue;
    std::vector<Label> leaders;
    for (const auto& [label, coefficient] : reading.equation.terms)
      if (is_cut(label)) leaders.push_back(label);
    if (leaders.size() != 1 || contains(operands_[reading.operand].labels, leaders.front())) continue;
    const bool leads_another = std::any_of(found.begin(), found.end(), [&](const Found& other) {
      return other.reading->operand == reading.operand && other.halo.leader == leaders.front();
    });
    const auto reach = reach_of(reading.equation, reading.label, leaders.front(), labels);
    if (leads_another || !reach) continue;
    found.push_back({{reading.label, leaders.front(), *reach}, &reading, partition.of(leaders.front())});
  }
  const auto is_useful = [&](const Found& one) {
    const auto extent = labels.extent(one.halo.label);
    return one.halo.reach.is_of_parts(extent, one.parts) && one.halo.reach.largest(extent, one.parts) < extent;
  };
  std::vector<Halo> out;
  for (const auto& one : found) {
    if (!is_useful(one)) continue;
    auto all = one;
    for (const auto& other : found) {
      const bool is_of_one = operands_[other.reading->operand].source == operands_[one.reading->operand].source &&
                             other.reading->dimension == one.reading->dimension;
      auto reach = other.halo.reach;
      reach.least = one.halo.reach.least;
      reach.most = one.halo.reach.most;
      if (!is_of_one || other.halo.leader != one.halo.leader || reach != one.halo.reach) continue;
      all.halo.reach.least = std::min(all.halo.reach.least, other.halo.reach.least);
      all.halo.reach.most = std::max(all.halo.reach.most, other.halo.reach.most);
    }
    out.push_back(is_useful(all) ? all.halo : one.halo);
  }
  return out;
}

std::vector<IndexEquation> HaloFinder::equations() const {
  std::vector<IndexEquation> out;
  for (const auto& reading : readings_) out.push_back(reading.equation);
  return out;
}

Labels cutting_labels(const Labels& labels, const std::vector<Halo>& halos) {
  auto out = labels;
  for (auto& label : out)
    for (const auto& halo : halos)
      if (halo.label == label) {
        label = halo.leader;
        break;
      }
  return out;
}

TileGrid halo_grid(const Labels& labels, const LabelPartition& partition, const std::vector<Halo>& halos,
                   const LabelTable& table) {
  Shape shape(table.extents(labels));
  auto parts = partition.project(cutting_labels(labels, halos));
  std::vector<std::optional<Reach>> reaches(labels.size());
  bool any = false;
  for (std::size_t d = 0; d < labels.size(); ++d)
    for (const auto& halo : halos)
      if (halo.label == labels[d]) {
        reaches[d] = halo.reach;
        any = true;
      }
  if (!any) return {std::move(shape), std::move(parts)};
  return TileGrid::overlapping(std::move(shape), std::move(parts), std::move(reaches));
}

}  // namespace eindb
