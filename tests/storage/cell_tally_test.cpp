// Counts of cells by index, in one pass and in several.

#include "storage/cells/cell_tally.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "tensor/partition.hpp"

namespace eindb {
namespace {

using Cells = std::set<std::vector<std::int64_t>>;

CellTally tallied(const Cells& cells, const TileGrid& grid, double most_cells, std::int64_t bytes) {
  std::map<std::int64_t, std::set<std::uint32_t>> tiles;
  for (const auto& cell : cells) {
    TileKey key;
    std::int64_t number = 0;
    for (std::size_t d = 0; d < grid.rank(); ++d) {
      std::int64_t part = 0;
      while (grid.range(d, part).begin + grid.range(d, part).size <= cell[d]) ++part;
      key.push_back(part);
      number = number * grid.range(d, part).size + cell[d] - grid.range(d, part).begin;
    }
    tiles[grid.id_of(key)].insert(static_cast<std::uint32_t>(number));
  }
  CellTally tally(grid.shape(), most_cells, bytes);
  for (std::int64_t pass = 0; pass < tally.passes(); ++pass) {
    tally.begin(pass);
    for (const auto& [id, numbers] : tiles) {
      const auto key = grid.key_of(id);
      const auto shape = grid.tile_shape(key);
      if (id % 2 == 0) {
        tally.add(std::vector<std::uint32_t>(numbers.begin(), numbers.end()), shape, grid.tile_begin(key));
      } else {
        const std::vector<std::int64_t> wide(numbers.begin(), numbers.end());
        const std::vector<std::byte> values(wide.size() * size_of(DType::Float64));
        tally.add(CellBlock::of_numbers(DType::Float64, shape, wide, values), grid.tile_begin(key));
      }
    }
    tally.end();
  }
  return tally;
}

TEST(CellTally, CountsByIndex) {
  const auto tally = tallied({{0, 3}, {0, 7}, {2, 3}}, TileGrid(Shape({4, 9}), {2, 2}), 3, 1 << 20);
  EXPECT_EQ(tally.passes(), 1);
  EXPECT_EQ(tally.cells(), 3);
  EXPECT_EQ(tally.spread(), (CellSpread{{2, 2}, {2, 2}}));
}

TEST(CellTally, AgreesWithBruteForceInAnyMemory) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 40; ++trial) {
    const auto any = [&](std::int64_t least, std::int64_t most) {
      return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    const Shape shape({any(1, 30), any(1, 500), any(1, 4)});
    const TileGrid grid(shape, {any(1, shape[0]), any(1, std::min<std::int64_t>(shape[1], 7)), 1});
    Cells cells;
    for (auto n = any(0, 200); n > 0; --n)
      cells.insert({any(0, shape[0] - 1), any(0, shape[1] - 1), any(0, shape[2] - 1)});
    CellSpread expected(3);
    for (std::size_t d = 0; d < 3; ++d) {
      std::map<std::int64_t, double> counts;
      for (const auto& cell : cells) counts[cell[d]] += 1;
      expected[d].indices = static_cast<double>(counts.size());
      for (const auto& [index, count] : counts) expected[d].degree = std::max(expected[d].degree, count);
    }
    for (const std::int64_t bytes : {1 << 20, 500, 1}) {
      const auto tally = tallied(cells, grid, static_cast<double>(cells.size()), bytes);
      EXPECT_EQ(tally.spread(), expected) << trial;
      EXPECT_EQ(tally.cells(), static_cast<std::int64_t>(cells.size()));
    }
  }
}

TEST(CellTally, CountsFewCellsOfHugeExtentsInATable) {
  const std::int64_t far = 1'000'000'000;
  CellTally tally(Shape({far, far}), 3, 1 << 20);
  EXPECT_EQ(tally.passes(), 1);
  tally.begin(0);
  tally.add(std::vector<std::uint32_t>{0, 5}, Shape({1, 10}), {far - 1, far - 10});
  tally.add(std::vector<std::uint32_t>{7}, Shape({1, 10}), {0, 0});
  tally.end();
  EXPECT_EQ(tally.spread(), (CellSpread{{2, 2}, {3, 1}}));
}

}  // namespace
}  // namespace eindb
