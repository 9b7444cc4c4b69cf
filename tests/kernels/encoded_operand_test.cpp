// Products of a matrix and a vector whose matrix is read as it is stored: equal to those of the decoded matrix.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "executor/kernels/instruction_set.hpp"
#include "executor/kernels/kernel.hpp"
#include "tensor/cell_encoding.hpp"
#include "tests/kernels/instruction_levels.hpp"
#include "tests/kernels/random_einsum.hpp"

namespace eindb {
namespace {

Tile encoded_tile(const Tile& values, Encoding encoding) {
  auto out = Tile::encoded(DType::Float32, encoding, values.shape());
  const auto type = with_encoding(encoding);
  const auto cells = values.shape().element_count();
  if (type.values == DType::Float32) {
    EXPECT_FALSE(encode_cells(type, values.bytes(), cells, out.mutable_bytes()).has_value());
    return out;
  }
  std::vector<std::int64_t> whole;
  for (std::int64_t n = 0; n < cells; ++n) whole.push_back(static_cast<std::int64_t>(values.data<float>()[n]));
  EXPECT_FALSE(encode_cells(type, std::as_bytes(std::span(whole)), cells, out.mutable_bytes()).has_value());
  return out;
}

class EncodedOperandTest : public testing::TestWithParam<InstructionSet> {};

TEST_P(EncodedOperandTest, IsReadAsItIsStored) {
  Random random(11);
  int read = 0;
  int in_blocks = 0;
  for (int sample = 0; sample < 400; ++sample) {
    LabelTable labels;
    const auto rows = draw(random, 1, sample % 3 == 0 ? 700 : 60);
    auto columns = draw(random, 1, sample % 3 == 1 ? 5000 : 90);
    if (sample % 2 == 0) columns = (columns + 31) / 32 * 32;
    const auto batch = draw(random, 1, 3);
    const auto b = labels.add("b", batch);
    const auto i = labels.add("i", rows);
    const auto j = labels.add("j", columns);
    const bool along_rows = draw(random, 0, 1) == 0;  // of the matrix, which is then contiguous along the sum
    const auto kept = along_rows ? i : j;
    const auto summed = along_rows ? j : i;
    EinSum einsum{.inputs = {{b, i, j}, {summed}},
                  .output = {b, kept},
                  .aggregated = {summed},
                  .expression = ScalarExpression::call(ScalarOp::Multiply,
                                                       {ScalarExpression::operand(0), ScalarExpression::operand(1)}),
                  .aggregate = Aggregate::Sum};
    const Kernel kernel(einsum, labels, {DType::Float32, DType::Float32}, DType::Float32, DType::Float32,
                        level_table(GetParam()));
    auto matrix = Tile::uninitialized(DType::Float32, Shape({batch, rows, columns}));
    for (std::int64_t n = 0; n < matrix.shape().element_count(); ++n)
      matrix.mutable_data<float>()[n] = static_cast<float>(draw(random, -120, 120)) * (sample % 2 == 0 ? 1.0F : 1.001F);
    auto vector = Tile::uninitialized(DType::Float32, Shape({along_rows ? columns : rows}));
    for (std::int64_t n = 0; n < vector.shape().element_count(); ++n)
      vector.mutable_data<float>()[n] = static_cast<float>(draw(random, -8, 8)) / 8;
    std::vector<PartRange> ranges;
    for (const auto label : einsum.labels()) ranges.push_back({0, labels.extent(label)});
    for (auto code = 1; code <= static_cast<int>(kLastEncoding); ++code) {
      const auto encoding = static_cast<Encoding>(code);
      if (!kernel.reads_encoded(0, encoding, ranges)) continue;
      ++read;
      if (has_scales(encoding)) ++in_blocks;
      EXPECT_FALSE(kernel.reads_encoded(1, encoding, ranges)) << "vectors are decoded";
      const auto stored = encoded_tile(matrix, encoding);
      const auto plain = decoded(stored);
      auto found = Tile::zeros(DType::Float32, Shape({batch, labels.extent(kept)}));
      const std::array<const Tile*, 2> operands{&stored, &vector};
      kernel.run(operands, ranges, found, true);
      kernel.run(operands, ranges, found, false);
      for (std::int64_t n = 0; n < found.shape().element_count(); ++n) {
        const auto of_batch = n / labels.extent(kept) * rows * columns;
        const auto own = n % labels.extent(kept);
        double expected = 0;  // of both runs
        double sizes = 0;
        for (std::int64_t k = 0; k < labels.extent(summed); ++k) {
          const auto cell = plain.data<float>()[of_batch + (along_rows ? own * columns + k : k * columns + own)];
          const auto term = 2.0 * static_cast<double>(cell) * static_cast<double>(vector.data<float>()[k]);
          expected += term;
          sizes += std::abs(term);
        }
        ASSERT_NEAR(found.data<float>()[n], expected, 1e-4 + 2e-7 * sizes)
            << name_of(with_encoding(encoding)) << " " << rows << " x " << columns << (along_rows ? "" : ", across");
      }
    }
  }
  EXPECT_GT(read, 300);
  EXPECT_GT(in_blocks, 50);
}

// Bytes times whole numbers of any size, modulo 2^64; also the greatest sums of products of 16 bits.
TEST_P(EncodedOperandTest, OfBytesIsExact) {
  Random random(12);
  int read = 0;
  for (int sample = 0; sample < 200; ++sample) {
    LabelTable labels;
    const auto rows = draw(random, 1, sample % 3 == 0 ? 700 : 60);
    const auto columns = draw(random, 16, sample % 3 == 1 ? 9000 : 90);
    const auto i = labels.add("i", rows);
    const auto j = labels.add("j", columns);
    const bool along_rows = sample % 2 == 0;
    const auto kept = along_rows ? i : j;
    const auto summed = along_rows ? j : i;
    EinSum einsum{.inputs = {{i, j}, {summed}},
                  .output = {kept},
                  .aggregated = {summed},
                  .expression = ScalarExpression::call(ScalarOp::Multiply,
                                                       {ScalarExpression::operand(0), ScalarExpression::operand(1)}),
                  .aggregate = Aggregate::Sum};
    const Kernel kernel(einsum, labels, {DType::Int64, DType::Int64}, DType::Int64, DType::Int64,
                        level_table(GetParam()));
    const bool extreme = sample % 5 == 0;
    auto matrix = Tile::uninitialized(DType::Int64, Shape({rows, columns}));
    for (std::int64_t n = 0; n < rows * columns; ++n)
      matrix.mutable_data<std::int64_t>()[n] = extreme ? -128 : draw(random, -128, 127);
    auto stored = Tile::encoded(DType::Int64, Encoding::Int8, matrix.shape());
    ASSERT_FALSE(encode_cells(with_encoding(Encoding::Int8), matrix.bytes(), rows * columns, stored.mutable_bytes())
                     .has_value());
    constexpr std::array<std::int64_t, 4> kMost{100, std::int64_t{1} << 15, std::int64_t{1} << 31,
                                                std::numeric_limits<std::int64_t>::max()};
    const auto most = kMost[static_cast<std::size_t>(sample % 4)];
    auto vector = Tile::uninitialized(DType::Int64, Shape({labels.extent(summed)}));
    for (std::int64_t n = 0; n < labels.extent(summed); ++n)
      vector.mutable_data<std::int64_t>()[n] = extreme ? -most : draw(random, -most, most - 1);
    std::vector<PartRange> ranges;
    for (const auto label : einsum.labels()) ranges.push_back({0, labels.extent(label)});
    if (!kernel.reads_encoded(0, Encoding::Int8, ranges)) continue;
    ++read;
    auto found = Tile::zeros(DType::Int64, Shape({labels.extent(kept)}));
    const std::array<const Tile*, 2> operands{&stored, &vector};
    kernel.run(operands, ranges, found, true);
    kernel.run(operands, ranges, found, false);
    for (std::int64_t n = 0; n < labels.extent(kept); ++n) {
      std::uint64_t expected = 0;
      for (std::int64_t k = 0; k < labels.extent(summed); ++k) {
        const auto cell = matrix.data<std::int64_t>()[along_rows ? n * columns + k : k * columns + n];
        expected += 2 * static_cast<std::uint64_t>(cell) * static_cast<std::uint64_t>(vector.data<std::int64_t>()[k]);
      }
      ASSERT_EQ(static_cast<std::uint64_t>(found.data<std::int64_t>()[n]), expected)
          << rows << " x " << columns << (along_rows ? "" : ", across") << ", sample " << sample;
    }
  }
  EXPECT_GT(read, 100);
}

INSTANTIATE_TEST_SUITE_P(AllLevels, EncodedOperandTest,
                         testing::ValuesIn(available_instruction_sets().begin(), available_instruction_sets().end()),
                         name_of_level);

}  // namespace
}  // namespace eindb
