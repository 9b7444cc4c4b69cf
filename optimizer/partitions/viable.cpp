#include "optimizer/partitions/viable.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/poll_steps.hpp"

namespace eindb {
namespace {

// Exponents of the powers of two in a partition vector: how often each label is halved.
using Exponents = std::vector<int>;

int log2_floor(std::int64_t value) { return std::bit_width(static_cast<std::uint64_t>(value)) - 1; }

Exponents most_halvings(const std::vector<std::int64_t>& extents) {
  Exponents out;
  for (const auto extent : extents) out.push_back(log2_floor(std::max<std::int64_t>(1, extent)));
  return out;
}

// Counts the ways to spread a number of halvings over labels with an upper bound each. Doubles suffice, since the count
// is only compared with a limit.
class WaysToSpread {
 public:
  explicit WaysToSpread(int total) : ways_(static_cast<std::size_t>(total) + 1, 0) { ways_[0] = 1; }

  void add(int most) {
    std::vector<double> next(ways_.size(), 0);
    for (std::size_t sum = 0; sum < ways_.size(); ++sum)
      for (std::size_t k = 0; k <= static_cast<std::size_t>(most) && k <= sum; ++k) next[sum] += ways_[sum - k];
    ways_ = std::move(next);
  }
  double count() const { return ways_.back(); }

 private:
  std::vector<double> ways_;  // indexed by the number of halvings
};

// Stops cutting the labels with the smallest extents until there are at most `limit` vectors. The largest labels keep
// their cuts as long as possible, at least until they take all halvings.
void limit_choice(Exponents& most, int total, double limit) {
  std::vector<std::size_t> by_extent(most.size());
  std::iota(by_extent.begin(), by_extent.end(), std::size_t{0});
  std::stable_sort(by_extent.begin(), by_extent.end(), [&](auto a, auto b) { return most[a] > most[b]; });
  WaysToSpread ways(total);
  int taken = 0;
  for (const auto label : by_extent) {
    ways.add(most[label]);
    if (taken >= total && ways.count() > limit) most[label] = 0;
    taken += most[label];
  }
  CHECK(taken >= total, "labels that may be cut take all halvings");
}

// Recurses over the labels that can be cut; there are at most as many as vectors.
class Enumeration {
 public:
  explicit Enumeration(const Exponents& most) : most_(most), d_(most.size(), 1) {
    for (std::size_t label = 0; label < most.size(); ++label)
      if (most[label] > 0) cut_.push_back(label);
  }

  std::vector<Partition> run(int total) {
    visit(0, total, std::accumulate(most_.begin(), most_.end(), 0));
    CHECK(!out_.empty(), "some vector makes as many calls as the extents allow");
    return std::move(out_);
  }

 private:
  void visit(std::size_t place, int total, int room) {
    DCHECK(total <= room, "labels that are left take the halvings that are left");
    if (place == cut_.size()) return out_.push_back(d_);
    poll_cancellation_after(d_.size());
    const auto most = most_[cut_[place]];
    const int room_after = room - most;
    for (int k = std::min(most, total); k >= std::max(0, total - room_after); --k) {
      d_[cut_[place]] = std::int64_t{1} << k;
      visit(place + 1, total - k, room_after);
    }
  }

  const Exponents& most_;
  std::vector<std::size_t> cut_;
  Partition d_;
  std::vector<Partition> out_;
};

}  // namespace

std::int64_t floor_power_of_two(std::int64_t value) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, value))));
}

std::vector<Partition> viable(const std::vector<std::int64_t>& extents, std::int64_t p, std::size_t limit) {
  CHECK(is_power_of_two(p), "kernel calls are a power of two");
  auto most = most_halvings(extents);
  const int total = std::min(log2_floor(p), std::accumulate(most.begin(), most.end(), 0));
  for (auto& bound : most) bound = std::min(bound, total);
  limit_choice(most, total, static_cast<double>(limit));
  return Enumeration(most).run(total);
}

std::vector<Partition> viable_in_slices(std::vector<std::int64_t> extents, const std::vector<std::int64_t>& slices,
                                        std::int64_t p, std::size_t limit) {
  CHECK(slices.size() == extents.size(), "of every label it is known how many slices cut it");
  for (std::size_t n = 0; n < extents.size(); ++n)
    if (slices[n] > 1) extents[n] /= slices[n];
  auto out = viable(extents, p, limit);
  for (auto& d : out)
    for (std::size_t n = 0; n < d.size(); ++n) d[n] *= slices[n];
  return out;
}

}  // namespace eindb
