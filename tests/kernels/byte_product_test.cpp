// Products of two matrices of INT8, which are read as they are stored: exact, in any layout.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "executor/kernels/instruction_set.hpp"
#include "executor/kernels/kernel.hpp"
#include "tensor/cell_encoding.hpp"
#include "tests/kernels/instruction_levels.hpp"
#include "tests/kernels/random_einsum.hpp"

namespace eindb {
namespace {

Tile stored_bytes(const Tile& values) {
  auto out = Tile::encoded(DType::Int64, Encoding::Int8, values.shape());
  EXPECT_FALSE(
      encode_cells(with_encoding(Encoding::Int8), values.bytes(), values.shape().element_count(), out.mutable_bytes())
          .has_value());
  return out;
}

class ByteProductTest : public ::testing::TestWithParam<InstructionSet> {
 protected:
  // Of the labels b, i, j and k: a batch, both sides and the sum.
  struct Sizes {
    std::int64_t b, i, j, k;
  };

  // The product of the stored matrices, twice, beside that of their values.
  void expect_exact(Random& random, const Sizes& sizes, int layout, bool extreme) {
    LabelTable labels;
    const auto b = labels.add("b", sizes.b);
    const auto i = labels.add("i", sizes.i);
    const auto j = labels.add("j", sizes.j);
    const auto k = labels.add("k", sizes.k);
    EinSum einsum{.inputs = {layout % 2 == 0 ? Labels{b, i, k} : Labels{k, b, i},
                             layout / 2 % 2 == 0 ? Labels{b, k, j} : Labels{j, b, k}},
                  .output = layout / 4 % 2 == 0 ? Labels{b, i, j} : Labels{j, i, b},
                  .aggregated = {k},
                  .expression = ScalarExpression::call(ScalarOp::Multiply,
                                                       {ScalarExpression::operand(0), ScalarExpression::operand(1)}),
                  .aggregate = Aggregate::Sum};
    const std::vector<DType> types{DType::Int64, DType::Int64};
    const Kernel kernel(einsum, labels, types, DType::Int64, DType::Int64, level_table(GetParam()), true);
    const Kernel of_values(einsum, labels, types, DType::Int64, DType::Int64, level_table(GetParam()));
    std::vector<Tile> values;
    std::vector<Tile> stored;
    for (const auto& input : einsum.inputs) {
      auto tile = Tile::uninitialized(DType::Int64, Shape(labels.extents(input)));
      for (std::int64_t n = 0; n < tile.shape().element_count(); ++n)
        tile.mutable_data<std::int64_t>()[n] = extreme ? -128 : draw(random, -128, 127);
      stored.push_back(stored_bytes(tile));
      values.push_back(std::move(tile));
    }
    std::vector<PartRange> ranges;
    for (const auto label : einsum.labels()) ranges.push_back({0, labels.extent(label)});
    const bool is_large = std::min(sizes.i, sizes.j) >= 4 && sizes.k >= 8;
    ASSERT_EQ(kernel.reads_bytes(ranges), is_large);
    if (!is_large) return;
    const Shape shape(labels.extents(einsum.output));
    auto found = Tile::zeros(DType::Int64, shape);
    auto expected = Tile::zeros(DType::Int64, shape);
    // Either operand may be plain.
    const auto* a = layout % 3 == 1 ? &values[0] : &stored[0];
    const auto* b_values = layout % 3 == 2 ? &values[1] : &stored[1];
    for (const bool first : {true, false}) {
      kernel.run(std::array<const Tile*, 2>{a, b_values}, ranges, found, first);
      of_values.run(std::array<const Tile*, 2>{&values[0], &values[1]}, ranges, expected, first);
    }
    EXPECT_TRUE(std::ranges::equal(found.bytes(), expected.bytes()))
        << sizes.b << " x " << sizes.i << " x " << sizes.j << " x " << sizes.k << ", layout " << layout;
  }
};

TEST_P(ByteProductTest, IsExact) {
  Random random(21);
  for (int sample = 0; sample < 120; ++sample) {
    const Sizes sizes{draw(random, 1, 3), draw(random, 1, 70), draw(random, 1, 90), draw(random, 1, 80)};
    expect_exact(random, sizes, sample % 8, sample % 5 == 0);
  }
}

TEST_P(ByteProductTest, IsExactInSeveralBlocks) {
  Random random(22);
  for (int layout = 0; layout < 8; ++layout) {
    expect_exact(random, {1, 37, 1100, 1500}, layout, false);
    expect_exact(random, {1, 37, 530, 1025}, layout, true);
  }
}

INSTANTIATE_TEST_SUITE_P(AllLevels, ByteProductTest,
                         ::testing::ValuesIn(available_instruction_sets().begin(), available_instruction_sets().end()),
                         name_of_level);

}  // namespace
}  // namespace eindb
