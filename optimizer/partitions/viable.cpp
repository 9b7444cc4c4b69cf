#include "optimizer/partitions/viable.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "common/check.hpp"
#include "common/checked_math.hpp"

namespace eindb {
namespace {

// Number of halvings: exponents of the powers of two that a partition vector is made of.
using Exponents = std::vector<int>;

int log2_floor(std::int64_t value) { return std::bit_width(static_cast<std::uint64_t>(value)) - 1; }

Exponents most_halvings(const std::vector<std::int64_t>& extents) {
  Exponents out;
  for (const auto extent : extents) out.push_back(log2_floor(std::max<std::int64_t>(1, extent)));
  return out;
}

// Ways to spread `total` halvings over labels that take at most `most` each; doubles, since it only meets a limit.
double count_ways(const Exponents& most, int total) {
  std::vector<double> ways(static_cast<std::size_t>(total) + 1, 0);
  ways[0] = 1;
  for (const auto bound : most) {
    std::vector<double> next(ways.size(), 0);
    for (std::size_t sum = 0; sum < ways.size(); ++sum)
      for (std::size_t k = 0; k <= static_cast<std::size_t>(bound) && k <= sum; ++k) next[sum] += ways[sum - k];
    ways = std::move(next);
  }
  return ways.back();
}

// Takes the cuts away from the labels with the smallest extents until few enough vectors are left.
void limit_choice(Exponents& most, int total, double limit) {
  std::vector<std::size_t> by_extent(most.size());
  std::iota(by_extent.begin(), by_extent.end(), std::size_t{0});
  std::stable_sort(by_extent.begin(), by_extent.end(), [&](auto a, auto b) { return most[a] > most[b]; });
  while (count_ways(most, total) > limit) {
    const auto smallest = by_extent.back();
    by_extent.pop_back();
    const int left = std::accumulate(most.begin(), most.end(), 0) - most[smallest];
    if (left < total) return;
    most[smallest] = 0;
  }
}

void enumerate(const Exponents& most, std::size_t label, int total, int room, Partition& d,
               std::vector<Partition>& out) {
  if (label == most.size()) {
    out.push_back(d);
    return;
  }
  const int room_after = room - most[label];
  for (int k = std::min(most[label], total); k >= std::max(0, total - room_after); --k) {
    d[label] = std::int64_t{1} << k;
    enumerate(most, label + 1, total - k, room_after, d, out);
  }
}

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
  std::vector<Partition> out;
  Partition d(extents.size(), 1);
  enumerate(most, 0, total, std::accumulate(most.begin(), most.end(), 0), d, out);
  return out;
}

std::vector<Partition> viable_in_slices(std::vector<std::int64_t> extents, const std::vector<std::int64_t>& slices,
                                        std::int64_t p, std::size_t limit) {
  for (std::size_t n = 0; n < extents.size(); ++n)
    if (slices[n] > 1) extents[n] /= slices[n];
  auto out = viable(extents, p, limit);
  for (auto& d : out)
    for (std::size_t n = 0; n < d.size(); ++n) d[n] *= slices[n];
  return out;
}

}  // namespace eindb
