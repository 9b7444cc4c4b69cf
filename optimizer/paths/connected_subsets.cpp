#include "optimizer/paths/connected_subsets.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "optimizer/paths/subset_sizes.hpp"

namespace eindb {
namespace {

// The cost of looking up a subset, in pairs that are examined and not joined.
constexpr std::uint64_t kPairsPerLookUp = 100;
// The cost of a new subset, with its sizes and memory (some hundred bytes).
constexpr std::uint64_t kPairsPerSubset = 400;

// With `kLargest`, the cost of a subset is its largest intermediate instead of a sum.
template <bool kLargest>
class ConnectedSubsets {
 public:
  using Set = SubsetSizes::Set;

  ConnectedSubsets(const ContractionProblem& problem, const IntermediatePrice& price, const PathBound& bound,
                   std::uint64_t budget, const SearchContext& context)
      : price_(price),
        context_(context),
        sizes_(problem),
        operands_(problem.operands.size()),
        whole_(operands_ == 64 ? ~Set{0} : (Set{1} << operands_) - 1),
        bound_(bound.rounded_up()),
        budget_(budget) {}

  SubsetSearch run() {
    std::vector<Class> by_count(operands_ + 1);
    for (std::size_t n = 0; n < operands_; ++n) {
      const Set set = Set{1} << n;
      known_[set] = {sizes_.of(set), sizes_.neighbours(n), 0, 0};
      found_.push_back(set);
    }
    by_count[1] = take_found();
    for (std::size_t count = 2; count <= operands_; ++count) {
      for (std::size_t part = 1; part <= count / 2; ++part)
        if (!join_all(by_count[part], by_count[count - part])) return {false, {}};
      by_count[count] = take_found();
    }
    SubsetSearch out;
    const auto best = known_.find(whole_);
    if (best != known_.end() && std::isfinite(best->second.best) && best->second.best <= most())
      emit(whole_, out.pairs);
    return out;
  }

 private:
  struct Subset {
    SubsetSizes::Size size;
    Set neighbours = 0;
    double best = std::numeric_limits<double>::infinity();
    Set part = 0;
  };
  // Subsets with the same number of operands, cheapest first. The data that the scan over pairs reads lies together.
  struct Class {
    struct Member {
      Set set = 0;
      double best = 0;
    };
    std::vector<Member> members;
    std::vector<const Subset*> subsets;
  };

  Class take_found() {
    std::sort(found_.begin(), found_.end(),
              [&](Set a, Set b) { return std::pair(known_.at(a).best, a) < std::pair(known_.at(b).best, b); });
    Class out;
    for (const auto set : std::exchange(found_, {})) {
      const auto& subset = known_.at(set);
      out.members.push_back({set, subset.best});
      out.subsets.push_back(&subset);
    }
    return out;
  }

  double most() const { return kLargest ? bound_.size : bound_.cost; }
  static double together(double a, double b) { return kLargest ? std::max(a, b) : a + b; }

  // False if the budget is spent.
  bool join_all(const Class& fewer, const Class& more) {
    for (std::size_t a = 0; a < fewer.members.size(); ++a) {
      context_.poll();
      const auto [set, best] = fewer.members[a];
      const auto neighbours = fewer.subsets[a]->neighbours;
      for (std::size_t b = &fewer == &more ? a + 1 : 0; b < more.members.size(); ++b) {
        const auto& other = more.members[b];
        if (together(best, other.best) > most()) break;
        if (budget_-- == 0) return false;
        if ((set & other.set) != 0 || (neighbours & other.set) == 0) continue;
        if (!join(set, *fewer.subsets[a], other.set, *more.subsets[b])) return false;
      }
    }
    return true;
  }

  bool spend(std::uint64_t pairs) {
    const bool enough = pairs < budget_;
    budget_ -= enough ? pairs : budget_;
    return enough;
  }

  bool join(Set set, const Subset& a, Set other, const Subset& b) {
    DCHECK((set & other) == 0, "two subsets that are joined have no operand in common");
    const double before = together(a.best, b.best);
    // The join has at least as many cells as each of its operands has elements.
    if (!kLargest && before + std::max(a.size.kept(), b.size.kept()) > most()) return true;
    const auto [entry, is_new] = known_.try_emplace(set | other);
    auto& whole = entry->second;
    if (is_new) whole.size = sizes_.of(set | other);
    const double kept = whole.size.kept();
    const double cost = cost_of(whole, a, b, kept, (set | other) == whole_);
    // Every result but the last is read by a step that has all its labels, so reading it costs at least its size.
    const double to_read = kLargest || (set | other) == whole_ ? 0 : kept;
    if (cost < whole.best && cost + to_read <= most() && kept <= bound_.size) {
      if (whole.part == 0) found_.push_back(set | other);
      whole.best = cost;
      whole.part = set;
      whole.neighbours = a.neighbours | b.neighbours;
    }
    return spend(is_new ? kPairsPerSubset : kPairsPerLookUp);
  }

  double cost_of(const Subset& whole, const Subset& a, const Subset& b, double kept, bool is_last) const {
    if (kLargest) return std::max({kept, a.best, b.best});
    const auto flops = static_cast<double>(SubsetSizes::flops(whole.size, a.size, b.size));
    return a.best + b.best + flops + (is_last ? 0 : price_(kept));
  }

  std::size_t emit(Set set, ResultPairs& pairs) const {
    if (std::has_single_bit(set)) return static_cast<std::size_t>(std::countr_zero(set));
    const auto part = known_.at(set).part;
    CHECK(part != 0 && (part & ~set) == 0, "a subset that is contracted has a part of itself");
    const auto a = emit(part, pairs);
    const auto b = emit(set ^ part, pairs);
    pairs.emplace_back(std::minmax(a, b));
    return operands_ + pairs.size() - 1;
  }

  const IntermediatePrice& price_;
  const SearchContext& context_;
  SubsetSizes sizes_;
  std::size_t operands_;
  Set whole_;
  PathBound bound_;
  std::uint64_t budget_;
  std::unordered_map<Set, Subset> known_;
  std::vector<Set> found_;  // the subsets of the current number of operands
};

}  // namespace

SubsetSearch best_over_connected_subsets(const ContractionProblem& problem, const IntermediatePrice& price,
                                         const PathBound& bound, std::uint64_t budget, const SearchContext& context) {
  if (problem.operands.size() < 2) return {};
  return ConnectedSubsets<false>(problem, price, bound, budget, context).run();
}

SubsetSearch least_largest_over_connected_subsets(const ContractionProblem& problem, const PathBound& bound,
                                                  std::uint64_t budget, const SearchContext& context) {
  if (problem.operands.size() < 2) return {};
  const IntermediatePrice free(PathObjective::Flops);
  return ConnectedSubsets<true>(problem, free, bound, budget, context).run();
}

}  // namespace eindb
