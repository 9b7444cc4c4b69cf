#include "executor/kernels/kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensor/reference_evaluator.hpp"
#include "tests/kernels/instruction_levels.hpp"
#include "tests/kernels/random_einsum.hpp"

namespace eindb {
namespace {

class KernelTest : public testing::TestWithParam<InstructionSet> {
 protected:
  const LevelTable& level() const { return level_table(GetParam()); }

  void expect_reference(const RandomEinSum& sample, Random& random) const {
    const auto expected =
        evaluate_reference(sample.einsum, sample.labels, sample.pointers(), sample.compute, sample.result);
    expect_close(run_in_parts(sample, level(), random), expected, sample.precision(), terms_of(sample),
                 sample.describe());
  }

  // One call over whole tensors, the first.
  Tile run_whole(const RandomEinSum& sample) const {
    const Kernel kernel(sample.einsum, sample.labels, sample.types(), sample.compute, sample.result, level());
    std::vector<PartRange> ranges;
    for (const auto label : sample.einsum.labels()) ranges.push_back({0, sample.labels.extent(label)});
    auto accumulator = Tile::uninitialized(sample.compute, Shape(sample.labels.extents(sample.einsum.output)));
    kernel.run(sample.pointers(), ranges, accumulator, true);
    return accumulator;
  }
};

INSTANTIATE_TEST_SUITE_P(AllLevels, KernelTest,
                         testing::ValuesIn(available_instruction_sets().begin(), available_instruction_sets().end()),
                         name_of_level);

// Every expression, aggregate, type, label pattern and cutting agrees with the oracle.
TEST_P(KernelTest, AgreesWithReferenceOnRandomExpressions) {
  Random random(1);
  for (int n = 0; n < 1500 && !HasFatalFailure(); ++n) expect_reference(random_general(random), random);
}

// The same with extents that need several boxes and vectors in each direction.
TEST_P(KernelTest, AgreesWithReferenceOnLongLabels) {
  Random random(2);
  for (int n = 0; n < 40 && !HasFatalFailure(); ++n)
    expect_reference(random_general(random, {.most_labels = 3, .largest_extent = 70, .products = false}), random);
  for (int n = 0; n < 40 && !HasFatalFailure(); ++n)
    expect_reference(random_general(random, {.most_labels = 1, .largest_extent = 5000, .products = false}), random);
}

// INT64 is exact to the last bit, wraps, and has a result for every division.
TEST_P(KernelTest, AgreesWithReferenceOnIntegers) {
  Random random(3);
  for (int n = 0; n < 1000 && !HasFatalFailure(); ++n)
    expect_reference(random_general(random, {.integers = true}), random);
}

TEST_P(KernelTest, AgreesWithReferenceOnRandomContractions) {
  Random random(4);
  for (const auto type : {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128, DType::Int64})
    for (int n = 0; n < 100 && !HasFatalFailure(); ++n) expect_reference(random_contraction(random, type, 6), random);
}

// A call that is planned for row-major tiles serves others, too, and those of other sizes.
TEST_P(KernelTest, ServesOtherCallsThanThoseThatArePlanned) {
  LabelTable labels;
  const auto i = labels.add("i", 5);
  const auto j = labels.add("j", 6);
  const auto k = labels.add("k", 7);
  const EinSum einsum{.inputs = {{i, j}, {j, k}},
                      .output = {i, k},
                      .aggregated = {j},
                      .expression = ScalarExpression::call(
                          ScalarOp::Multiply, {ScalarExpression::operand(0), ScalarExpression::operand(1)}),
                      .aggregate = Aggregate::Sum};
  const auto type = DType::Float64;
  Kernel kernel(einsum, labels, {type, type}, type, type, level());
  kernel.plan_calls_of(std::vector<std::int64_t>{5, 6, 7});
  Random random(17);
  for (const std::int64_t rows : {5, 4, 5}) {
    const auto x = random_tile(random, type, Shape({rows, 6}));
    const auto y = random_tile(random, type, Shape({6, 7}));
    // The same values, column by column.
    auto turned = Tile::uninitialized(type, Shape({7, 6}));
    for (std::int64_t a = 0; a < 6; ++a)
      for (std::int64_t b = 0; b < 7; ++b) turned.mutable_data<double>()[b * 6 + a] = y.data<double>()[a * 7 + b];
    const auto columns = Tile::borrow(type, Shape({6, 7}), turned.bytes().data(), {1, 6});
    const std::vector<PartRange> ranges{{0, rows}, {0, 6}, {0, 7}};
    for (const auto* second : {&y, columns.get()}) {
      const std::vector<const Tile*> operands{&x, second};
      auto result = Tile::uninitialized(type, Shape({rows, 7}));
      kernel.run(operands, ranges, result, true);
      kernel.run(operands, ranges, result, false);
      for (std::int64_t a = 0; a < rows; ++a)
        for (std::int64_t b = 0; b < 7; ++b) {
          double expected = 0;
          for (std::int64_t c = 0; c < 6; ++c)
            expected += 2 * x.data<double>()[a * 6 + c] * y.data<double>()[c * 7 + b];
          EXPECT_NEAR(result.data<double>()[a * 7 + b], expected, 1e-12);
        }
    }
  }
}

// All eight combinations of row- and column-major operands and result, in place, first and accumulated.
TEST_P(KernelTest, MultipliesMatricesOfEveryLayout) {
  Random random(5);
  for (const auto type : {DType::Float32, DType::Complex128}) {
    for (unsigned layout = 0; layout < 8; ++layout) {
      RandomEinSum sample;
      const auto i = sample.labels.add("i", 19);
      const auto j = sample.labels.add("j", 70);
      const auto k = sample.labels.add("k", 33);
      const auto ordered = [&](unsigned bit, Label a, Label b) {
        return (layout & bit) != 0 ? Labels{b, a} : Labels{a, b};
      };
      sample.einsum = {.inputs = {ordered(1, i, j), ordered(2, j, k)},
                       .output = ordered(4, i, k),
                       .aggregated = {j},
                       .expression = ScalarExpression::call(
                           ScalarOp::Multiply, {ScalarExpression::operand(0), ScalarExpression::operand(1)}),
                       .aggregate = Aggregate::Sum};
      for (const auto& input : sample.einsum.inputs)
        sample.tensors.push_back(random_tile(random, type, Shape(sample.labels.extents(input))));
      sample.compute = sample.result = type;
      expect_reference(sample, random);
    }
  }
}

// Element-wise, aggregated over both labels or one, and written the other way round; with extents below, around and far
// beyond a box, and special values.
TEST_P(KernelTest, ReadsTransposedOperandsInBoxes) {
  Random random(6);
  for (const auto type : {DType::Float32, DType::Float64, DType::Complex64, DType::Int64}) {
    for (const auto& [rows, columns] : {std::pair{3, 900}, {900, 3}, {16, 16}, {67, 130}, {130, 67}, {40, 1100}}) {
      for (int form = 0; form < 4; ++form) {
        RandomEinSum sample;
        const auto i = sample.labels.add("i", rows);
        const auto j = sample.labels.add("j", columns);
        const auto k = sample.labels.add("k", 2);
        const bool aggregated = form == 1 || form == 2;
        sample.einsum = {.inputs = {{k, i, j}, {j, k, i}},
                         .output = form == 0   ? Labels{k, i, j}
                                   : form == 1 ? Labels{k}
                                   : form == 2 ? Labels{k, j}
                                               : Labels{j, i, k},
                         .aggregated = form == 1   ? Labels{i, j}
                                       : form == 2 ? Labels{i}
                                                   : Labels{},
                         .expression = ScalarExpression::call(
                             ScalarOp::Subtract, {ScalarExpression::operand(0), ScalarExpression::operand(1)}),
                         .aggregate = aggregated ? Aggregate::Sum : Aggregate::None};
        for (const auto& input : sample.einsum.inputs)
          sample.tensors.push_back(random_tile(random, type, Shape(sample.labels.extents(input)), !aggregated));
        sample.compute = sample.result = type;
        expect_reference(sample, random);
      }
    }
  }
}

RandomEinSum reduction(Aggregate aggregate, Tile tile) {
  RandomEinSum sample;
  const auto i = sample.labels.add("i", tile.shape()[0]);
  sample.einsum = {.inputs = {{i}},
                   .output = {},
                   .aggregated = {i},
                   .expression = ScalarExpression::operand(0),
                   .aggregate = aggregate};
  sample.compute = sample.result = tile.dtype();
  sample.tensors.push_back(std::move(tile));
  return sample;
}

// Adding one after the other in FLOAT32 would be off by 1e-3.
TEST_P(KernelTest, SumsMillionsOfFloatsAccurately) {
  constexpr std::int64_t kCount = 3'000'000;
  auto tile = Tile::uninitialized(DType::Float32, Shape({kCount}));
  double exact = 0;
  for (std::int64_t n = 0; n < kCount; ++n) {
    tile.mutable_data<float>()[n] = 0.1F + 1e-7F * static_cast<float>(n % 1000);
    exact += static_cast<double>(tile.data<float>()[n]);
  }
  const auto sum = run_whole(reduction(Aggregate::Sum, std::move(tile)));
  EXPECT_NEAR(sum.data<float>()[0], exact, 1e-6 * exact);
}

// Wherever the NaN stands: in a vector, in its tail, first or last.
TEST_P(KernelTest, MinAndMaxPropagateNan) {
  for (const std::int64_t count : {1, 3, 40, 1025}) {
    for (const std::int64_t place : {std::int64_t{0}, count / 2, count - 1}) {
      auto tile = Tile::zeros(DType::Float64, Shape({count}));
      tile.mutable_data<double>()[place] = std::numeric_limits<double>::quiet_NaN();
      auto copy = convert(tile, DType::Float64);
      EXPECT_TRUE(std::isnan(run_whole(reduction(Aggregate::Min, std::move(tile))).data<double>()[0])) << count;
      EXPECT_TRUE(std::isnan(run_whole(reduction(Aggregate::Max, std::move(copy))).data<double>()[0])) << count;
    }
  }
}

TEST_P(KernelTest, EmptyGroupsGiveTheIdentity) {
  EXPECT_EQ(run_whole(reduction(Aggregate::Sum, Tile::zeros(DType::Float64, Shape({0})))).data<double>()[0], 0);
  EXPECT_EQ(run_whole(reduction(Aggregate::Prod, Tile::zeros(DType::Float64, Shape({0})))).data<double>()[0], 1);
  EXPECT_EQ(run_whole(reduction(Aggregate::Min, Tile::zeros(DType::Float32, Shape({0})))).data<float>()[0], INFINITY);
  EXPECT_EQ(run_whole(reduction(Aggregate::Max, Tile::zeros(DType::Int64, Shape({0})))).data<std::int64_t>()[0],
            std::numeric_limits<std::int64_t>::min());
}

TEST(KernelDescription, NamesThePath) {
  Random random(6);
  RandomEinSum sample;
  const auto i = sample.labels.add("i", 10);
  const auto j = sample.labels.add("j", 20);
  const auto k = sample.labels.add("k", 30);
  const auto x = ScalarExpression::operand(0);
  const auto y = ScalarExpression::operand(1);
  sample.einsum = {.inputs = {{i, j}, {j, k}},
                   .output = {i, k},
                   .aggregated = {j},
                   .expression = ScalarExpression::call(ScalarOp::Multiply, {x, y}),
                   .aggregate = Aggregate::Sum};
  const std::vector types(2, DType::Float64);
  EXPECT_EQ(Kernel(sample.einsum, sample.labels, types, DType::Float64, DType::Float64).describe(),
            "gemm m=10 n=30 k=20 batch=1 in place");
  const auto difference = ScalarExpression::call(ScalarOp::Subtract, {x, y});
  sample.einsum.expression = ScalarExpression::call(ScalarOp::Power, {difference, ScalarExpression::integer(2)});
  EXPECT_EQ(Kernel(sample.einsum, sample.labels, types, DType::Float64, DType::Float64).describe(),
            "pairs SUM of squared differences m=10 n=30 k=20 batch=1");
  sample.einsum.expression = ScalarExpression::call(ScalarOp::Exp, {difference});
  EXPECT_EQ(Kernel(sample.einsum, sample.labels, types, DType::Float64, DType::Float64).describe(),
            "expression (2 operations)");
}

}  // namespace
}  // namespace eindb
