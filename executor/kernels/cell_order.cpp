#include "executor/kernels/cell_order.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "common/check.hpp"

namespace eindb {
namespace {

// In steps of a loop over the cells of a trie.
constexpr double kSortPerCell = 30;
constexpr double kMeet = 1.5;  // beside the step, for each further trie that has the label
constexpr double kRowCell = 0.7;
constexpr double kHashedCell = 40;     // in a table that fits a cache, and sorted then
constexpr double kFarHashedCell = 60;  // in a larger one
constexpr double kNearCells = 4096;
constexpr double kRow = 20;
constexpr double kRowPlacesPerStep = 4096;
constexpr double kMadePlace = 0.5;  // new memory, which is zero

constexpr std::size_t kMostLabelsForAllOrders = 8;

using LabelSet = std::uint64_t;

bool has_label(LabelSet set, std::size_t label) { return ((set >> label) & 1U) != 0; }
LabelSet with_label(LabelSet set, std::size_t label) { return set | (LabelSet{1} << label); }

class OrderSearch {
 public:
  explicit OrderSearch(const OrderProblem& problem)
      : problem_(problem), all_((LabelSet{1} << problem.extents.size()) - 1) {}

  LabelOrder best() const {
    std::optional<LabelOrder> best;
    auto least = std::numeric_limits<double>::infinity();
    const auto most_leading = problem_.makes_cells ? problem_.output.size() : 0;
    for (std::size_t leading = 0; leading <= most_leading; ++leading) {
      LabelOrder order{{problem_.output.begin(), problem_.output.begin() + static_cast<std::ptrdiff_t>(leading)},
                       leading,
                       places_time(leading) <= hashed_time(leading)};
      const auto time = complete(order) + result_time(order);
      if (best && !(time < least)) continue;
      least = time;
      best = std::move(order);
    }
    return *best;
  }

 private:
  // The number of nodes for the labels of a trie that are in the set.
  double nodes(const OrderProblem::Trie& trie, LabelSet set) const {
    double extent = 1;
    std::size_t first = 0;
    std::size_t bound = 0;
    for (std::size_t level = 0; level < trie.labels.size(); ++level) {
      if (!has_label(set, trie.labels[level])) continue;
      extent *= problem_.extents[trie.labels[level]];
      if (first == level) ++first;
      ++bound;
    }
    if (bound == 0) return 1;
    if (bound == first) return trie.nodes[first - 1];
    return extent > 0 ? -extent * std::expm1(-std::min(trie.nodes.back() / extent, 700.0)) : 0;
  }

  double extent(const OrderProblem::Trie& trie, LabelSet set) const {
    double extent = 1;
    for (const auto label : trie.labels)
      if (has_label(set, label)) extent *= problem_.extents[label];
    return extent;
  }

  // The points over the labels of a set that are visited.
  double points(LabelSet set) const {
    double all = 1;
    for (std::size_t label = 0; label < problem_.extents.size(); ++label)
      if (has_label(set, label)) all *= problem_.extents[label];
    if (all == 0) return 0;
    double part = problem_.takes_union ? 0 : 1;
    for (const auto& trie : problem_.tries) {
      const auto density = nodes(trie, set) / std::max(1.0, extent(trie, set));
      if (problem_.takes_union) part = std::min(1.0, part + density);
      else part *= density;
    }
    return all * part;
  }

  // All points, as a result is made of them. Where a trie has all labels, there may be as many as it has cells, since
  // tensors that are multiplied cell by cell often have them in the same places: halfway between the two.
  double points_to_gather() const {
    const auto expected = points(all_);
    if (problem_.takes_union) return expected;
    auto most = std::numeric_limits<double>::infinity();
    for (const auto& trie : problem_.tries)
      if (trie.labels.size() == problem_.extents.size()) most = std::min(most, trie.nodes.back());
    return most < std::numeric_limits<double>::infinity() ? std::sqrt(std::max(1.0, expected) * most) : expected;
  }

  // Of the loop over a label inside those of a set.
  double time(LabelSet set, std::size_t label) const {
    const auto next = with_label(set, label);
    double children = std::numeric_limits<double>::infinity();
    double sorting = 0;
    double sides = 0;
    for (const auto& trie : problem_.tries) {
      const auto level = std::find(trie.labels.begin(), trie.labels.end(), label);
      if (level == trie.labels.end()) continue;
      ++sides;
      children = std::min(children, nodes(trie, next) / std::max(1.0, nodes(trie, set)));
      // In order, all labels before and none behind are bound.
      const bool in_order = std::all_of(trie.labels.begin(), level, [&](auto l) { return has_label(set, l); }) &&
                            std::none_of(level, trie.labels.end(), [&](auto l) { return has_label(set, l); });
      if (!in_order) sorting += kSortPerCell * trie.nodes.back() / 2;
    }
    if (sides == 0) return points(next) * (next == all_ ? problem_.run_costs[label] : 1);
    const auto steps = problem_.takes_union || sides == 1 ? points(next) : points(set) * children;
    return sorting + steps * (1 + kMeet * (sides - 1));
  }

  double result_time(const LabelOrder& order) const {
    if (!problem_.makes_cells || order.leading == problem_.output.size()) return 0;
    return order.takes_places ? places_time(order.leading) : hashed_time(order.leading);
  }

  // The points over the first labels of the result.
  double rows(std::size_t leading) const {
    LabelSet outer = 0;
    for (std::size_t n = 0; n < leading; ++n) outer = with_label(outer, problem_.output[n]);
    return points(outer);
  }

  double places_time(std::size_t leading) const {
    double row = 1;
    for (auto n = leading; n < problem_.output.size(); ++n) row *= problem_.extents[problem_.output[n]];
    if (row > static_cast<double>(kMostRowPlaces)) return std::numeric_limits<double>::infinity();
    return points_to_gather() * kRowCell + rows(leading) * (kRow + row / kRowPlacesPerStep) + row * kMadePlace;
  }

  double hashed_time(std::size_t leading) const {
    const auto all = points_to_gather();
    const bool is_near = all <= kNearCells * std::max(1.0, rows(leading));
    return all * (is_near ? kHashedCell : kFarHashedCell) + rows(leading) * kRow;
  }

  // Appends the other labels; the time of all loops.
  double complete(LabelOrder& order) const {
    LabelSet set = 0;
    double sum = 0;
    for (const auto label : order.labels) {
      sum += time(set, label);
      set = with_label(set, label);
    }
    return sum + (problem_.extents.size() - order.labels.size() <= kMostLabelsForAllOrders ? try_all(set, order)
                                                                                           : take_nearest(set, order));
  }

  // By the sets of labels that are bound, whatever their order was.
  double try_all(LabelSet from, LabelOrder& order) const {
    std::vector<std::size_t> free;
    for (std::size_t label = 0; label < problem_.extents.size(); ++label)
      if (!has_label(from, label)) free.push_back(label);
    const auto sets = std::size_t{1} << free.size();
    std::vector<double> least(sets, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> last(sets, 0);
    least[0] = 0;
    for (std::size_t bound = 0; bound < sets; ++bound) {
      auto set = from;
      for (std::size_t n = 0; n < free.size(); ++n)
        if (has_label(bound, n)) set = with_label(set, free[n]);
      for (std::size_t n = 0; n < free.size(); ++n) {
        if (has_label(bound, n)) continue;
        const auto sum = least[bound] + time(set, free[n]);
        const auto next = with_label(bound, n);
        if (least[next] < sum || (least[next] == sum && last[next] > n)) continue;
        least[next] = sum;
        last[next] = n;
      }
    }
    const auto place = order.labels.size();
    for (auto bound = sets - 1; bound != 0; bound &= ~(std::size_t{1} << last[bound]))
      order.labels.insert(order.labels.begin() + static_cast<std::ptrdiff_t>(place), free[last[bound]]);
    return least[sets - 1];
  }

  double take_nearest(LabelSet set, LabelOrder& order) const {
    double sum = 0;
    while (set != all_) {
      std::optional<std::size_t> nearest;
      double least = 0;
      for (std::size_t label = 0; label < problem_.extents.size(); ++label) {
        if (has_label(set, label)) continue;
        const auto here = time(set, label);
        if (nearest && here >= least) continue;
        nearest = label;
        least = here;
      }
      sum += least;
      order.labels.push_back(*nearest);
      set = with_label(set, *nearest);
    }
    return sum;
  }

  const OrderProblem& problem_;
  LabelSet all_;
};

}  // namespace

LabelOrder choose_order(const OrderProblem& problem) {
  CHECK(problem.extents.size() < 64, "the labels of a join of cells are a set of bits");
  return OrderSearch(problem).best();
}

}  // namespace eindb
