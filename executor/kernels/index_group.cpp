#include "executor/kernels/index_group.hpp"

#include <algorithm>
#include <array>

#include "common/check.hpp"
#include "common/checked_math.hpp"

namespace eindb {
namespace {

IndexGroup merged(const IndexGroup& sorted) {
  IndexGroup out;
  for (const auto& inner : sorted) {
    const bool nests = !out.empty() && out.back().first == inner.first * inner.extent &&
                       out.back().second == inner.second * inner.extent;
    if (nests) out.back() = {out.back().extent * inner.extent, inner.first, inner.second};
    else out.push_back(inner);
  }
  DCHECK(count_of(out) == count_of(sorted), "loops that are made one have the indices of both");
  return out;
}

int contiguous(const IndexGroup& group, std::int64_t GroupLoop::*stride) {
  for (std::size_t n = 0; n < group.size(); ++n)
    if (group[n].*stride == 1) return static_cast<int>(n);
  return -1;
}

// The number of contiguous elements in a tensor for a box with these sides.
std::int64_t run_of(const IndexGroup& group, const std::vector<std::int64_t>& sides, std::int64_t GroupLoop::*stride) {
  std::int64_t run = 1;
  for (std::size_t n = 0; n < group.size();) {
    const bool goes_on = sides[n] > 1 && group[n].*stride == run;
    if (goes_on) run *= sides[n];
    if (goes_on && sides[n] < group[n].extent) break;
    n = goes_on ? 0 : n + 1;  // the next loop of the run may be anywhere
  }
  return run;
}

// The position in `others` of the loop to extend: one that lengthens the shorter of the two tensors' runs, else one
// that lengthens the longer run, else the innermost loop.
std::size_t next_to_extend(const IndexGroup& group, const std::vector<std::int64_t>& sides,
                           const std::vector<std::size_t>& others) {
  struct Run {
    std::int64_t length;
    std::int64_t GroupLoop::*stride;
  };
  std::array runs{Run{run_of(group, sides, &GroupLoop::first), &GroupLoop::first},
                  Run{run_of(group, sides, &GroupLoop::second), &GroupLoop::second}};
  if (runs[1].length < runs[0].length) std::swap(runs[0], runs[1]);
  for (const auto& run : runs) {
    const auto found = std::find_if(others.begin(), others.end(), [&](std::size_t n) {
      return run.length > 1 && group[n].*run.stride == run.length;
    });
    if (found != others.end()) return static_cast<std::size_t>(found - others.begin());
  }
  return 0;
}

}  // namespace

IndexGroup sorted_by_first(IndexGroup group) {
  std::stable_sort(group.begin(), group.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  return merged(group);
}

IndexGroup sorted_by_second(IndexGroup group) {
  std::stable_sort(group.begin(), group.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return merged(group);
}

std::int64_t count_of(const IndexGroup& group) {
  std::int64_t count = 1;
  for (const auto& loop : group) count *= loop.extent;
  return count;
}

int contiguous_in_first(const IndexGroup& group) { return contiguous(group, &GroupLoop::first); }
int contiguous_in_second(const IndexGroup& group) { return contiguous(group, &GroupLoop::second); }

std::vector<std::int64_t> box_sides(const IndexGroup& group, std::int64_t limit, std::int64_t multiple,
                                    std::span<const int> important) {
  constexpr std::int64_t kRun = 16;
  std::vector<std::int64_t> sides(group.size(), 1);
  auto left = limit;
  const auto extend = [&](std::size_t n, std::int64_t most) {
    const auto extent = group[n].extent;
    const auto wanted = std::clamp<std::int64_t>(most, 1, extent);
    const auto even = ceil_divide(extent, ceil_divide(extent, wanted));
    const bool innermost = n + 1 == group.size();
    const auto rounded = innermost && even < extent ? ceil_divide(even, multiple) * multiple : even;
    sides[n] = std::min(extent, rounded <= std::max(wanted, multiple) ? rounded : even);
    left = std::max<std::int64_t>(1, left / sides[n]);
  };
  std::vector<std::size_t> first;
  for (const auto n : important)
    if (n >= 0 && std::find(first.begin(), first.end(), static_cast<std::size_t>(n)) == first.end())
      first.push_back(static_cast<std::size_t>(n));
  for (std::size_t n = 0; n < first.size(); ++n) {
    // The second loop gets the remaining factor: at least a run, more if the first loop is short.
    const auto shared = n + 1 < first.size() ? std::min(kRun, group[first[n + 1]].extent) : 1;
    extend(first[n], left / shared);
  }
  std::vector<std::size_t> others;
  for (auto n = group.size(); n-- > 0;)
    if (std::find(first.begin(), first.end(), n) == first.end()) others.push_back(n);
  while (!others.empty()) {
    const auto next = next_to_extend(group, sides, others);
    extend(others[next], left);
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(next));
  }
  return sides;
}

GroupBoxes::GroupBoxes(const IndexGroup& group, std::vector<std::int64_t> sides)
    : group_(group), sides_(std::move(sides)), begins_(group.size(), 0), extents_(group.size(), 1) {
  CHECK(sides_.size() == group.size(), "a box has a side along each loop");
  for (std::size_t n = 0; n < group.size(); ++n) {
    CHECK(sides_[n] > 0 && group[n].extent > 0, "a box has indices along each loop");
    room_ *= sides_[n];
    box_count_ *= ceil_divide(group[n].extent, sides_[n]);
  }
  go_to(0);
}

void GroupBoxes::go_to(std::int64_t number) {
  DCHECK(number >= 0 && number < box_count_, "a box is one of its group");
  count_ = 1;
  for (auto n = group_.size(); n-- > 0;) {
    const auto boxes = ceil_divide(group_[n].extent, sides_[n]);
    begins_[n] = number % boxes * sides_[n];
    number /= boxes;
    extents_[n] = std::min(sides_[n], group_[n].extent - begins_[n]);
    count_ *= extents_[n];
  }
}

std::int64_t GroupBoxes::begin_in(std::int64_t GroupLoop::*stride) const {
  std::int64_t begin = 0;
  for (std::size_t n = 0; n < group_.size(); ++n) begin += begins_[n] * (group_[n].*stride);
  return begin;
}

// Builds the list from the inside, repeating the existing part at each further index of the next loop. The innermost
// loop counts separately, since otherwise each offset would depend on the previous one.
void GroupBoxes::list(std::int64_t* offsets, std::int64_t GroupLoop::*stride) const {
  const auto begin = begin_in(stride);
  const auto inner = group_.empty() ? 1 : extents_.back();
  const auto inner_step = group_.empty() ? 0 : group_.back().*stride;
  for (std::int64_t i = 0; i < inner; ++i) offsets[i] = begin + i * inner_step;
  std::int64_t done = inner;
  for (auto n = group_.empty() ? 0 : group_.size() - 1; n-- > 0;) {
    for (std::int64_t i = 1; i < extents_[n]; ++i) {
      const auto away = i * (group_[n].*stride);
      for (std::int64_t j = 0; j < done; ++j) offsets[i * done + j] = offsets[j] + away;
    }
    done *= extents_[n];
  }
  DCHECK(done == count_, "each index of a box has its offset");
}

// Like list(), for the numbers of the indices, with the loop of the smallest stride innermost.
std::int64_t GroupBoxes::order_by(std::int64_t* order, std::int64_t GroupLoop::*stride, bool outer_only) const {
  std::vector<std::pair<std::size_t, std::int64_t>> loops;  // a loop, and the distance of its neighbours in the box
  std::int64_t apart = 1;
  for (auto n = group_.size(); n-- > 0; apart *= extents_[n])
    if (!outer_only || n + 1 < group_.size()) loops.emplace_back(n, apart);
  std::stable_sort(loops.begin(), loops.end(),
                   [&](const auto& a, const auto& b) { return group_[a.first].*stride < group_[b.first].*stride; });
  order[0] = 0;
  std::int64_t done = 1;
  for (const auto& [n, step] : loops) {
    for (std::int64_t i = done; i < done * extents_[n]; ++i) order[i] = order[i - done] + step;
    done *= extents_[n];
  }
  return done;
}

}  // namespace eindb
