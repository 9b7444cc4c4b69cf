#include "executor/kernels/pair_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <vector>

#include "executor/kernels/kernel.hpp"
#include "tensor/placed_value.hpp"
#include "tensor/reference_evaluator.hpp"
#include "tensor/scalar_types.hpp"
#include "tests/kernels/instruction_levels.hpp"
#include "tests/kernels/random_einsum.hpp"
#include "tests/tensor/scalar_builders.hpp"

namespace eindb {
namespace {

class PairKernelTest : public testing::TestWithParam<InstructionSet> {
 protected:
  const LevelTable& level() const { return level_table(GetParam()); }

  void expect_reference(const RandomEinSum& sample, Random& random) const {
    const auto expected =
        evaluate_reference(sample.einsum, sample.labels, sample.pointers(), sample.compute, sample.result);
    expect_close(run_in_parts(sample, level(), random), expected, sample.compute, terms_of(sample), sample.describe());
  }
};

INSTANTIATE_TEST_SUITE_P(AllLevels, PairKernelTest,
                         testing::ValuesIn(available_instruction_sets().begin(), available_instruction_sets().end()),
                         name_of_level);

std::vector<ScalarPtr> functions() {
  const auto x = ScalarExpression::operand(0);
  const auto y = ScalarExpression::operand(1);
  std::vector<ScalarPtr> out;
  using enum ScalarOp;
  for (const auto op :
       {Add, Subtract, Multiply, Least, Greatest, Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, And, Or}) {
    out.push_back(call(op, {x, y}));
    out.push_back(call(op, {y, x}));
  }
  out.push_back(call(Abs, {call(Subtract, {x, y})}));
  out.push_back(call(Power, {call(Subtract, {y, x}), ScalarExpression::integer(2)}));
  return out;
}

Labels shuffled(Labels labels, Random& random) {
  std::shuffle(labels.begin(), labels.end(), random);
  return labels;
}

// Labels of every role in any order, with extents on both sides of a block's.
RandomEinSum random_pairs(Random& random, DType type, ScalarPtr function, Aggregate aggregate, bool specials) {
  RandomEinSum sample;
  const auto add = [&](const char* name, std::int64_t most, Labels& to) {
    to.push_back(sample.labels.add(name, draw(random, 1, most)));
  };
  Labels batch;
  Labels rows;
  Labels columns;
  Labels depth;
  if (draw(random, 0, 2) == 0) add("b", 3, batch);
  add("m", 12, rows);
  if (draw(random, 0, 1) == 0) add("n", 5, rows);
  add("o", 40, columns);
  if (draw(random, 0, 1) == 0) add("p", 4, columns);
  add("k", draw(random, 0, 3) == 0 ? 160 : 9, depth);
  if (draw(random, 0, 1) == 0) add("l", 4, depth);
  const auto together = [](std::initializer_list<Labels> groups) {
    Labels all;
    for (const auto& group : groups) all.insert(all.end(), group.begin(), group.end());
    return all;
  };
  sample.einsum.inputs = {shuffled(together({batch, rows, depth}), random),
                          shuffled(together({batch, columns, depth}), random)};
  sample.einsum.output = shuffled(together({batch, rows, columns}), random);
  sample.einsum.aggregated = depth;
  sample.einsum.expression = std::move(function);
  sample.einsum.aggregate = aggregate;
  for (const auto& input : sample.einsum.inputs)
    sample.tensors.push_back(random_tile(random, type, Shape(sample.labels.extents(input)), specials));
  sample.compute = sample.result = type;
  return sample;
}

TEST_P(PairKernelTest, AgreesWithReference) {
  Random random(11);
  for (const auto type : {DType::Float32, DType::Float64, DType::Int64})
    for (const auto& function : functions())
      for (const auto aggregate : {Aggregate::Sum, Aggregate::Min, Aggregate::Max})
        for (int n = 0; n < 2 && !HasFatalFailure(); ++n)
          expect_reference(random_pairs(random, type, function, aggregate, false), random);
}

// Infinities, NaN and zeros of both signs; the ends of the range of INT64.
TEST_P(PairKernelTest, AgreesWithReferenceOnSpecialValues) {
  Random random(12);
  for (const auto type : {DType::Float32, DType::Float64, DType::Int64})
    for (const auto& function : functions())
      for (const auto aggregate : {Aggregate::Sum, Aggregate::Min, Aggregate::Max})
        expect_reference(random_pairs(random, type, function, aggregate, true), random);
}

// ARGMIN and ARGMAX of a join: the extreme is looked for in the values, which are computed again. Ties, NaN and
// infinities; values that are not found; indices that the constant does not exceed.
TEST_P(PairKernelTest, SearchesForAnIndex) {
  Random random(17);
  using enum ScalarOp;
  for (const auto type : {DType::Float32, DType::Float64, DType::Int64})
    for (const auto op : {Add, Subtract, Multiply, Least, Greatest})
      for (int n = 0; n < 12 && !HasFatalFailure(); ++n) {
        const auto value = call(op, {ScalarExpression::operand(0), ScalarExpression::operand(1)});
        auto sample = random_pairs(random, type, value, n % 2 == 0 ? Aggregate::Max : Aggregate::Min, n % 3 == 0);
        if (sample.einsum.aggregated.size() != 1) continue;
        const auto label = sample.einsum.aggregated[0];
        auto extreme =
            evaluate_reference(sample.einsum, sample.labels, sample.pointers(), sample.compute, sample.result);
        sample.einsum.inputs.push_back(sample.einsum.output);
        sample.tensors.push_back(std::move(extreme));
        const auto sought = ScalarExpression::operand(2);
        const auto otherwise = n == 5 ? 1 : sample.labels.extent(label);
        sample.einsum.expression =
            call(Case, {call(Or, {call(Equal, {value, sought}), call(NotEqual, {value, value})}),
                        ScalarExpression::label_index(label), ScalarExpression::integer(otherwise)});
        sample.einsum.aggregate = Aggregate::Min;
        sample.compute = sample.result = DType::Int64;
        if (type != DType::Int64) sample.compute = DType::Float64;
        expect_reference(sample, random);
      }
}

// FirstLeast and FirstGreatest of a join, of every type that has an order: ties, NaN and infinities, labels of every
// role, parts of the label whose index is placed.
TEST_P(PairKernelTest, ExtremesAndTheirIndicesAgreeWithReference) {
  Random random(18);
  auto of_two = functions();
  const auto compares = [](const ScalarPtr& e) { return gives_boolean(*e); };
  of_two.erase(std::remove_if(of_two.begin(), of_two.end(), compares), of_two.end());
  for (const auto type : {DType::Float32, DType::Float64, DType::Int64})
    for (const auto& function : of_two)
      for (int n = 0; n < 12 && !HasFatalFailure(); ++n) {
        const auto aggregate = n % 2 == 0 ? Aggregate::FirstGreatest : Aggregate::FirstLeast;
        auto sample = random_pairs(random, type, function, aggregate, n % 3 == 0);
        if (sample.einsum.aggregated.size() != 1) continue;
        sample.einsum.expression = with_place(with_types(function, std::array{type, type}, sample.labels, type), type,
                                              sample.einsum.aggregated[0], aggregate);
        sample.compute = sample.result = DType::Complex128;
        expect_reference(sample, random);
      }
}

// Deeper than a panel, with a rest that is no whole group, and with few values, so that ties are frequent.
TEST_P(PairKernelTest, ExtremesOfDeepPairsHaveTheirFirstIndex) {
  Random random(19);
  for (const auto type : {DType::Float32, DType::Float64, DType::Int64})
    for (const std::int64_t depth : {1, 3, 4, 6, 127, 255, 256, 259, 530}) {
      RandomEinSum sample;
      const auto i = sample.labels.add("i", 13);
      const auto j = sample.labels.add("j", depth);
      const auto k = sample.labels.add("k", 70);
      sample.einsum = {
          .inputs = {{i, j}, {j, k}},
          .output = {i, k},
          .aggregated = {j},
          .expression = with_place(call(ScalarOp::Add, {ScalarExpression::operand(0), ScalarExpression::operand(1)}),
                                   type, j, Aggregate::FirstGreatest),
          .aggregate = Aggregate::FirstGreatest};
      for (const auto& input : sample.einsum.inputs) {
        auto tile = random_tile(random, type, Shape(sample.labels.extents(input)));
        dispatch(type, [&](auto t) {
          using T = typename decltype(t)::type;
          if constexpr (std::is_arithmetic_v<T>)
            for (std::int64_t n = 0; n < tile.shape().element_count(); ++n)
              tile.mutable_data<T>()[n] = static_cast<T>(draw(random, -20, 20));
        });
        sample.tensors.push_back(std::move(tile));
      }
      sample.compute = sample.result = DType::Complex128;
      expect_reference(sample, random);
    }
}

// Truth values as bits: many zeros, tall and wide blocks, and rows of more bits than are packed at a time.
TEST_P(PairKernelTest, TruthsInManyWords) {
  Random random(15);
  const auto x = ScalarExpression::operand(0);
  const auto y = ScalarExpression::operand(1);
  const std::vector<std::array<std::int64_t, 3>> sizes{{5, 70, 9000}, {70, 5, 2500}, {600, 3, 65}, {3, 1100, 64}};
  for (const auto type : {DType::Float32, DType::Float64, DType::Int64}) {
    for (const auto op : {ScalarOp::And, ScalarOp::Or}) {
      for (const auto aggregate : {Aggregate::Sum, Aggregate::Min, Aggregate::Max}) {
        RandomEinSum sample;
        const auto size = sizes[static_cast<std::size_t>(draw(random, 0, 3))];
        const auto m = sample.labels.add("m", size[0]);
        const auto n = sample.labels.add("n", size[1]);
        const auto k = sample.labels.add("k", size[2]);
        sample.einsum = {.inputs = {shuffled({m, k}, random), shuffled({k, n}, random)},
                         .output = shuffled({m, n}, random),
                         .aggregated = {k},
                         .expression = call(op, {x, y}),
                         .aggregate = aggregate};
        for (const auto& input : sample.einsum.inputs) {
          auto& tile =
              sample.tensors.emplace_back(random_tile(random, type, Shape(sample.labels.extents(input)), false));
          for (std::int64_t e = 0; e < tile.shape().element_count(); ++e) {
            if (draw(random, 0, 9) < 3) continue;
            if (type == DType::Float32) tile.mutable_data<float>()[e] = 0;
            else if (type == DType::Float64) tile.mutable_data<double>()[e] = -0.0;
            else tile.mutable_data<std::int64_t>()[e] = 0;
          }
        }
        sample.compute = sample.result = type;
        expect_reference(sample, random);
      }
    }
  }
}

// An edge that is not there is infinitely long: a sum of one infinity alone is no NaN, and stays in the blocks.
TEST_P(PairKernelTest, ShortestPathsWithMissingEdges) {
  Random random(13);
  const auto sum = call(ScalarOp::Add, {ScalarExpression::operand(0), ScalarExpression::operand(1)});
  for (int n = 0; n < 20 && !HasFatalFailure(); ++n) {
    auto sample = random_pairs(random, DType::Float32, sum, Aggregate::Min, false);
    for (auto& tensor : sample.tensors)
      for (std::int64_t e = 0; e < tensor.shape().element_count(); ++e)
        if (draw(random, 0, 2) == 0) tensor.mutable_data<float>()[e] = std::numeric_limits<float>::infinity();
    expect_reference(sample, random);
  }
}

// As a product of exponentials. Rows whose greatest values are far apart underflow, and rows have infinities and NaN.
TEST_P(PairKernelTest, LogSumExpOfSums) {
  Random random(14);
  const auto x = ScalarExpression::operand(0);
  const auto y = ScalarExpression::operand(1);
  for (const auto type : {DType::Float32, DType::Float64}) {
    for (int n = 0; n < 60 && !HasFatalFailure(); ++n) {
      const auto sum = call(ScalarOp::Add, {x, y});
      auto sample = random_pairs(random, type, sum, Aggregate::LogSumExp, n % 3 == 0);
      for (auto& tensor : sample.tensors) {
        for (std::int64_t e = 0; n % 3 == 1 && e < tensor.shape().element_count(); ++e) {
          if (draw(random, 0, 3) != 0) continue;
          if (type == DType::Float32) tensor.mutable_data<float>()[e] -= 2000;
          else tensor.mutable_data<double>()[e] -= 2000;
        }
      }
      expect_reference(sample, random);
    }
  }
}

TEST(PairKernelDescription, NamesFunctionAndSizes) {
  LabelTable labels;
  const auto i = labels.add("i", 10);
  const auto j = labels.add("j", 20);
  const auto k = labels.add("k", 30);
  const EinSum einsum{.inputs = {{i, j}, {j, k}},
                      .output = {i, k},
                      .aggregated = {j},
                      .expression = call(ScalarOp::Add, {ScalarExpression::operand(0), ScalarExpression::operand(1)}),
                      .aggregate = Aggregate::Max};
  const std::vector types(2, DType::Float64);
  EXPECT_EQ(Kernel(einsum, labels, types, DType::Float64, DType::Float64).describe(),
            "pairs MAX of sums m=10 n=30 k=20 batch=1");
}

}  // namespace
}  // namespace eindb
