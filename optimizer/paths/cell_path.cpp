#include "optimizer/paths/cell_path.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "common/check.hpp"
#include "tensor/cell_estimate.hpp"

namespace eindb {
namespace {

using OperandBits = std::uint32_t;  // a bit for each operand

// What steps on cells take in flops of dense tiles, of which a core does 69 in a nanosecond: a step of a run along a
// label that only dense operands have, one that finds its operands by a coordinate each, a cell that is read, and one
// that is made (optimizer/partitions/cell_work).
constexpr double kRunStep = 17;
constexpr double kSingleStep = 83;
constexpr double kReadCell = 69;
constexpr double kMadeCell = 690;
constexpr double kLongRun = 4;
// Results are of cells where they are large and have few (optimizer/cell_choice).
constexpr double kSmallestOfCells = 65536;
constexpr double kMostDenseOfCells = 0.1;
constexpr double kMostCounted = 0x1p63;  // which are counted in 64 bits

class CellPath {
 public:
  explicit CellPath(const ContractionProblem& problem) : problem_(problem) {
    CHECK(problem.operands.size() <= kMostForCells && problem.cells.size() == problem.operands.size(),
          "the cells of a few operands are known");
    for (const auto extent : problem.extents) labels_of_problem_.push_back(table_.add("", extent));
    results_.resize(std::size_t{1} << problem.operands.size());
    for (OperandBits set = 1; set < results_.size(); ++set) results_[set] = result_of(set);
  }

  ResultPairs best(const SearchContext& context) const {
    const auto all = static_cast<OperandBits>(results_.size() - 1);
    std::vector<double> cost(results_.size(), 0);
    std::vector<OperandBits> part(results_.size(), 0);
    for (OperandBits set = 1; set <= all; ++set) {
      if (std::has_single_bit(set)) continue;
      context.poll();
      cost[set] = std::numeric_limits<double>::infinity();
      const OperandBits first = set & (~set + 1);
      const OperandBits rest = set ^ first;
      for (OperandBits others = (rest - 1) & rest;; others = (others - 1) & rest) {
        const auto one = first | others;
        const auto both = cost[one] + cost[set ^ one];
        if (both < cost[set]) {
          const auto with_step = both + step(one, set ^ one);
          if (with_step < cost[set]) cost[set] = with_step, part[set] = one;
        }
        if (others == 0) break;
      }
      if (part[set] == 0) part[set] = first;  // costs beyond all numbers
    }
    ResultPairs pairs;
    emit(all, part, pairs);
    return pairs;
  }

  double cost(const ResultPairs& pairs) const {
    std::vector<OperandBits> sets;
    for (std::size_t n = 0; n < problem_.operands.size(); ++n) sets.push_back(OperandBits{1} << n);
    double all = 0;
    for (const auto& [a, b] : pairs) {
      all += step(sets[a], sets[b]);
      sets.push_back(sets[a] | sets[b]);
    }
    return all;
  }

 private:
  struct Result {
    Labels labels = {};
    double size = 1;                         // elements, if it is dense
    std::optional<CellEstimate> cells = {};  // set if it is of cells
  };

  Labels labels_of(const std::vector<std::size_t>& numbers) const {
    Labels out;
    for (const auto number : numbers) out.push_back(labels_of_problem_[number]);
    return out;
  }

  double size_of(const Labels& labels) const {
    double size = 1;
    for (const auto label : labels) size *= static_cast<double>(table_.extent(label));
    return size;
  }

  EinSum joined(std::vector<Labels> inputs, Labels output) const {
    EinSum einsum{.inputs = std::move(inputs), .output = std::move(output), .aggregated = {}, .expression = nullptr};
    einsum.aggregated = difference(einsum.labels(), einsum.output);
    return einsum;
  }

  // The largest part of the set, but not all of it, whose result is known; 0 if there is none.
  OperandBits known_part_of(OperandBits set) const {
    OperandBits largest = 0;
    for (const auto& [part, cells] : problem_.known)
      if ((part & set) == part && part != set && std::popcount(part) > std::popcount(largest)) largest = part;
    return largest;
  }

  std::optional<CellEstimate> known_cells(OperandBits set, const Labels& labels) const {
    const auto known = problem_.known.find(set);
    if (known == problem_.known.end()) return std::nullopt;
    CellEstimate out{known->second.cells, {}};
    const auto& spread = known->second.spread;
    for (const auto label : labels)
      if (const auto found = spread.find(label.index()); found != spread.end()) out.spread.push_back(found->second);
    if (out.spread.size() != labels.size()) out.spread.clear();
    return out;
  }

  // Labels are kept while the output or an operand outside of the set has them.
  Result result_of(OperandBits set) const {
    Labels inside;
    Labels outside = labels_of(problem_.output);
    std::vector<Labels> inputs;
    OperandCells cells;
    const auto part = known_part_of(set);
    if (part != 0) {
      inputs.push_back(results_[part].labels);
      cells.push_back(results_[part].cells);
    }
    for (std::size_t n = 0; n < problem_.operands.size(); ++n) {
      const auto labels = labels_of(problem_.operands[n]);
      const bool is_in = (set >> n & 1U) != 0;
      append_distinct(is_in ? inside : outside, labels);
      if (!is_in || (part >> n & 1U) != 0) continue;
      inputs.push_back(labels);
      cells.push_back(problem_.cells[n]);
    }
    if (std::has_single_bit(set)) return {inputs.front(), size_of(inputs.front()), cells.front()};
    Result result;
    result.labels = difference(inside, difference(inside, outside));
    result.size = size_of(result.labels);
    const bool any = std::any_of(cells.begin(), cells.end(), [](const auto& each) { return each.has_value(); });
    if (!any || result.size < kSmallestOfCells) return result;
    auto made = known_cells(set, result.labels);
    if (!made) made = cell_results(joined(std::move(inputs), result.labels), table_, cells, CellPattern::Intersection);
    if (made->cells <= kMostDenseOfCells * result.size) result.cells = std::move(made);
    return result;
  }

  double step(OperandBits one, OperandBits other) const {
    const auto& a = results_[one];
    const auto& b = results_[other];
    const auto& result = results_[one | other];
    if (result.size >= kMostCounted) return std::numeric_limits<double>::infinity();
    const auto moved = [](const Result& each) { return kFlopsPerElement * each.size; };
    auto labels = a.labels;
    append_distinct(labels, b.labels);
    const auto dense = 2 * size_of(labels) + moved(a) + moved(b) + moved(result);
    if (!a.cells && !b.cells) return dense;
    Labels of_cells;
    double seconds = result.cells ? kMadeCell * result.cells->cells : moved(result);
    for (const auto* each : {&a, &b}) {
      seconds += each->cells ? kReadCell * each->cells->cells : moved(*each);
      if (each->cells) append_distinct(of_cells, each->labels);
    }
    const auto einsum = joined({a.labels, b.labels}, result.labels);
    const auto steps = cell_steps(einsum, table_, {a.cells, b.cells}, CellPattern::Intersection);
    const auto run = size_of(difference(labels, of_cells));
    return std::min(dense, seconds + steps * (run >= kLongRun ? kRunStep : kSingleStep));
  }

  // The number of the set's result.
  std::size_t emit(OperandBits set, const std::vector<OperandBits>& part, ResultPairs& pairs) const {
    if (std::has_single_bit(set)) return static_cast<std::size_t>(std::countr_zero(set));
    const auto a = emit(part[set], part, pairs);
    const auto b = emit(set ^ part[set], part, pairs);
    pairs.emplace_back(std::minmax(a, b));
    return problem_.operands.size() + pairs.size() - 1;
  }

  const ContractionProblem& problem_;
  LabelTable table_;
  Labels labels_of_problem_;
  std::vector<Result> results_;  // by set of operands; the empty set is unused
};

}  // namespace

ResultPairs pairs_by_cells(const ContractionProblem& problem, const SearchContext& context) {
  if (problem.operands.size() < 2) return {};
  return CellPath(problem).best(context);
}

double cost_by_cells(const ContractionProblem& problem, const ResultPairs& pairs) {
  return CellPath(problem).cost(pairs);
}

}  // namespace eindb
