// The elements of stored tensors that workers lack, against a count of single elements.
#include "optimizer/partitions/input_places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace eindb {
namespace {

std::int64_t any(std::mt19937& random, std::int64_t below) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(below));
}

bool holds(const TileHolders& holders, std::int64_t tile, std::size_t worker) {
  const auto ranks = holders.of(tile);
  return std::find(ranks.begin(), ranks.end(), static_cast<Rank>(worker)) != ranks.end();
}

TEST(HeldParts, LacksWhatOthersHold) {
  constexpr std::size_t kWorkers = 3;
  for (unsigned round = 0; round < 300; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::mt19937 random(round);
    std::vector<std::int64_t> extents;
    Partition parts;
    for (auto left = 1 + any(random, 3); left > 0; --left) {
      extents.push_back(1 + any(random, 9));
      parts.push_back(1 + any(random, extents.back()));
    }
    const TileGrid grid(Shape(extents), parts);
    TileHolders holders;
    const auto absent = any(random, 10);  // of ten tiles
    while (holders.tile_count() < grid.tile_count()) {
      std::vector<Rank> ranks;
      for (Rank rank = 0; rank <= kWorkers; ++rank)  // the last one is the coordinator's
        if (any(random, 2) == 0) ranks.push_back(rank);
      if (any(random, 10) < absent) ranks.clear();
      const auto left = grid.tile_count() - holders.tile_count();
      holders.add(ranks, std::min(left, 1 + any(random, 7)));
    }
    const HeldParts held(grid, holders, kWorkers);
    for (int n = 0; n < 5; ++n) {
      IndexBox box;
      for (const auto extent : extents) {
        const auto begin = any(random, extent);
        box.push_back({begin, 1 + any(random, extent - begin)});
      }
      std::vector<double> expected(kWorkers, 0);
      for (std::int64_t tile = 0; tile < grid.tile_count(); ++tile) {
        if (holders.of(tile).empty()) continue;
        double common = 1;
        const auto key = grid.key_of(tile);
        for (std::size_t d = 0; d < key.size(); ++d) {
          const auto range = grid.range(d, key[d]);
          common *= static_cast<double>(
              std::max<std::int64_t>(0, std::min(range.end(), box[d].end()) - std::max(range.begin, box[d].begin)));
        }
        for (std::size_t worker = 0; worker < kWorkers; ++worker)
          if (!holds(holders, tile, worker)) expected[worker] += common;
      }
      for (std::size_t worker = 0; worker < kWorkers; ++worker)
        EXPECT_EQ(held.missing(box, worker), expected[worker]) << "worker " << worker;
    }
  }
}

TEST(HeldParts, OfFewTilesAmongVeryManyAreFewBoxes) {
  const TileGrid grid(Shape({1 << 30, 1 << 30}), {1 << 17, 1 << 17});
  TileHolders holders;
  const Rank first = 0;
  const Rank second = 1;
  holders.add({}, 77);
  holders.add({&first, 1}, 1);
  holders.add({}, std::int64_t{1} << 33U);
  holders.add({&second, 1}, 1);
  holders.add({}, grid.tile_count() - holders.tile_count());
  const HeldParts held(grid, holders, 2);
  EXPECT_LE(held.box_count(), 8U);
  const IndexBox all{{0, 1 << 30}, {0, 1 << 30}};
  const double tile = 8192.0 * 8192.0;
  EXPECT_EQ(held.missing(all, 0), tile);
  EXPECT_EQ(held.missing(all, 1), tile);
}

}  // namespace
}  // namespace eindb
