#include "tensor/cell_box_walk.hpp"

#include <gtest/gtest.h>

#include <random>

namespace eindb {
namespace {

CellBlock block_of(const Shape& shape, const std::vector<std::int64_t>& numbers) {
  return CellBlock::of_numbers(DType::Int64, shape, numbers,
                               std::vector<std::byte>(numbers.size() * sizeof(std::int64_t)));
}

// The numbers of the cells that a walk visits, in its order.
std::vector<std::int64_t> visited(const CellBlock& cells, const std::vector<PartRange>& box) {
  std::vector<std::int64_t> numbers;
  CellBoxWalk walk(cells, box);
  const auto all = cells.numbers();
  while (walk.next()) {
    std::int64_t number = 0;
    for (std::size_t d = 0; d < box.size(); ++d) number = number * cells.shape()[d] + walk.coordinate(d);
    EXPECT_EQ(number, all.at(static_cast<std::size_t>(walk.cell())));
    numbers.push_back(number);
  }
  EXPECT_FALSE(walk.next());
  return numbers;
}

TEST(CellBoxWalk, VisitsTheCellsOfABoxInOrder) {
  std::mt19937 random(7);
  const Shape shape({5, 6, 7});
  for (int round = 0; round < 200; ++round) {
    std::vector<std::int64_t> numbers;
    for (std::int64_t n = 0; n < shape.element_count(); ++n)
      if (random() % 8 == 0) numbers.push_back(n);
    std::vector<PartRange> box;
    for (std::size_t d = 0; d < 3; ++d) {
      const auto begin = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(shape[d]));
      const auto room = static_cast<std::uint64_t>(shape[d] - begin);
      box.push_back({begin, static_cast<std::int64_t>(random() % (room + 1))});
    }
    std::vector<std::int64_t> expected;
    for (const auto number : numbers) {
      const std::vector<std::int64_t> at{number / 42, number / 7 % 6, number % 7};
      bool inside = true;
      for (std::size_t d = 0; d < 3; ++d) inside = inside && at[d] >= box[d].begin && at[d] < box[d].end();
      if (inside) expected.push_back(number);
    }
    EXPECT_EQ(visited(block_of(shape, numbers), box), expected);
  }
}

TEST(CellBoxWalk, OfNoCellsEndsAtOnce) { EXPECT_TRUE(visited(block_of(Shape({4, 4}), {}), {{0, 4}, {0, 4}}).empty()); }

}  // namespace
}  // namespace eindb
