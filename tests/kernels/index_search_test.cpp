#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "executor/kernels/instruction_set.hpp"
#include "tensor/placed_value.hpp"
#include "tensor/reference_evaluator.hpp"
#include "tensor/scalar_semantics.hpp"
#include "tensor/scalar_types.hpp"
#include "tests/kernels/instruction_levels.hpp"
#include "tests/kernels/random_einsum.hpp"
#include "tests/tensor/scalar_builders.hpp"

namespace eindb {
namespace {

class IndexSearchTest : public testing::TestWithParam<InstructionSet> {
 protected:
  const LevelTable& level() const { return level_table(GetParam()); }

  void expect_reference(const RandomEinSum& sample, Random& random) const {
    const auto expected =
        evaluate_reference(sample.einsum, sample.labels, sample.pointers(), sample.compute, sample.result);
    expect_close(run_in_parts(sample, level(), random), expected, sample.result, 1, sample.describe());
  }
};

INSTANTIATE_TEST_SUITE_P(AllLevels, IndexSearchTest,
                         testing::ValuesIn(available_instruction_sets().begin(), available_instruction_sets().end()),
                         name_of_level);

/// The first tensor's extents, of labels a, b, ..., and the one whose index is looked for.
struct Searched {
  std::vector<std::int64_t> extents;
  char label;
};

struct Choice {
  DType stored = DType::Float32;
  DType compute = DType::Float64;
  bool specials = false;
  std::int64_t otherwise = -1;  // the label's extent
};

/// The second tensor holds a value of each row, and now and then something else.
template <class T>
void fill_wanted(Random& random, const Tile& values, Tile& wanted, std::int64_t outer, std::int64_t size,
                 std::int64_t inner) {
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      const auto* row = values.data<T>() + o * size * inner + i;
      auto& to = wanted.mutable_data<T>()[o * inner + i];
      to = row[draw(random, 0, size - 1) * inner];
      if (draw(random, 0, 9) == 0) to = T(100);
      if constexpr (std::is_floating_point_v<T>) {
        if (draw(random, 0, 19) == 0) to = std::numeric_limits<T>::quiet_NaN();
      }
    }
}

/// The search that ARGMAX of the first tensor becomes; the second tensor is the MAX.
RandomEinSum search(Random& random, const Searched& shape, const Choice& choice) {
  RandomEinSum sample;
  Labels all;
  for (std::size_t n = 0; n < shape.extents.size(); ++n)
    all.push_back(sample.labels.add(std::string(1, static_cast<char>('a' + n)), shape.extents[n]));
  const auto label = all[static_cast<std::size_t>(shape.label - 'a')];
  Labels others;
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  for (const auto other : all) {
    if (other == label) continue;
    others.push_back(other);
    (other < label ? outer : inner) *= sample.labels.extent(other);
  }
  const auto size = sample.labels.extent(label);
  sample.tensors.push_back(random_tile(random, choice.stored, Shape(shape.extents), choice.specials));
  sample.tensors.push_back(random_tile(random, choice.stored, Shape(sample.labels.extents(others))));
  dispatch(choice.stored, [&](auto t) {
    using T = typename decltype(t)::type;
    if constexpr (!is_complex_type<T>) fill_wanted<T>(random, sample.tensors[0], sample.tensors[1], outer, size, inner);
  });
  const auto x = ScalarExpression::operand(0);
  const auto y = ScalarExpression::operand(1);
  const auto matches = call(ScalarOp::Or, {call(ScalarOp::Equal, {x, y}), call(ScalarOp::NotEqual, {x, x})});
  const auto otherwise = ScalarExpression::integer(choice.otherwise < 0 ? size : choice.otherwise);
  sample.einsum = {.inputs = {all, others},
                   .output = others,
                   .aggregated = {label},
                   .expression = call(ScalarOp::Case, {matches, ScalarExpression::label_index(label), otherwise}),
                   .aggregate = Aggregate::Min};
  sample.compute = choice.compute;
  sample.result = DType::Int64;
  return sample;
}

const std::vector<Choice>& choices() {
  static const std::vector<Choice> all{
      {DType::Float32, DType::Float64, false, -1},
      {DType::Float32, DType::Float64, true, -1},
      {DType::Float64, DType::Float64, true, -1},
      {DType::Float32, DType::Float32, true, -1},
      {DType::Int64, DType::Int64, true, -1},
      {DType::Int64, DType::Float64, false, -1},
      {DType::Float32, DType::Float64, false, 1000000},
      {DType::Float64, DType::Float64, false, 3},  // less than some indices: the least of all is asked for
  };
  return all;
}

// The label first, last and between others, of lengths that fill vectors and leave tails; in parts of every label.
TEST_P(IndexSearchTest, AgreesWithReferenceWhereverTheLabelStands) {
  Random random(41);
  for (const auto& choice : choices()) {
    for (const std::int64_t size : {1, 2, 7, 16, 33, 64, 65, 130, 300})
      for (const std::int64_t beside : {1, 5, 16, 19, 70}) {
        expect_reference(search(random, {{size, beside}, 'a'}, choice), random);
        expect_reference(search(random, {{beside, size}, 'b'}, choice), random);
        expect_reference(search(random, {{3, size, beside}, 'b'}, choice), random);
        expect_reference(search(random, {{3, beside, size}, 'c'}, choice), random);
        if (HasFatalFailure()) return;
      }
  }
}

// Rows beyond what is looked through at once, and many of them.
TEST_P(IndexSearchTest, AgreesWithReferenceOnLongRowsAndManyCells) {
  Random random(42);
  for (const auto& extents : std::vector<std::vector<std::int64_t>>{{3, 20000}, {20000, 3}, {2500, 40}, {30, 9000}})
    for (const char label : {'a', 'b'}) {
      auto sample = search(random, {extents, label}, {});
      // Values that are found late, or in few places.
      auto* values = sample.tensors[0].mutable_data<float>();
      for (std::int64_t n = 0; n < sample.tensors[0].shape().element_count(); ++n)
        values[n] = static_cast<float>(draw(random, 0, 3000));
      expect_reference(sample, random);
      if (HasFatalFailure()) return;
    }
}

// Of equal zeros of both signs the first.
TEST_P(IndexSearchTest, ZerosOfBothSignsAreEqual) {
  Random random(43);
  auto sample = search(random, {{2, 40}, 'b'}, {});
  auto* values = sample.tensors[0].mutable_data<float>();
  for (std::int64_t n = 0; n < 80; ++n) values[n] = n % 40 == 20 ? 0.0F : n % 40 > 20 ? -0.0F : -1.0F;
  sample.tensors[1].mutable_data<float>()[0] = -0.0F;
  sample.tensors[1].mutable_data<float>()[1] = 0.0F;
  const auto places = run_in_parts(sample, level(), random);
  EXPECT_EQ(places.data<std::int64_t>()[0], 20);
  EXPECT_EQ(places.data<std::int64_t>()[1], 20);
}

/// The extremes of the tensor of a search with their indices: COMPLEX(value, index).
RandomEinSum placed(RandomEinSum sample, Aggregate aggregate) {
  const auto label = sample.einsum.aggregated.front();
  sample.tensors.pop_back();
  sample.einsum.inputs.pop_back();
  sample.einsum.aggregate = aggregate;
  sample.einsum.expression =
      call(ScalarOp::MakeComplex, {call(ScalarOp::ToFloat64, {ScalarExpression::operand(0)}),
                                   ScalarExpression::with_type(ScalarExpression::label_index(label), DType::Float64)});
  sample.compute = sample.result = DType::Complex128;
  return sample;
}

// Equal values, NaN, infinities and zeros of both signs are frequent among the special values; parts cut every label.
TEST_P(IndexSearchTest, ExtremesAndTheirIndicesAgreeWithReference) {
  Random random(44);
  for (const auto stored : {DType::Float32, DType::Float64, DType::Int64}) {
    for (const auto aggregate : {Aggregate::FirstLeast, Aggregate::FirstGreatest}) {
      for (const bool specials : {false, true}) {
        const Choice choice{.stored = stored, .compute = DType::Float64, .specials = specials};
        for (const std::int64_t size : {1, 2, 16, 33, 65, 300})
          for (const std::int64_t beside : {1, 5, 19, 70}) {
            expect_reference(placed(search(random, {{size, beside}, 'a'}, choice), aggregate), random);
            expect_reference(placed(search(random, {{3, size, beside}, 'b'}, choice), aggregate), random);
            expect_reference(placed(search(random, {{3, beside, size}, 'c'}, choice), aggregate), random);
            if (HasFatalFailure()) return;
          }
      }
    }
  }
}

// Whole numbers, of which FLOAT64 has not all, and values that are computed where they are read.
TEST_P(IndexSearchTest, ExtremesOfComputedAndWholeValuesAgreeWithReference) {
  Random random(47);
  const auto x = ScalarExpression::operand(0);
  const auto beside = ScalarExpression::operand(1);
  const std::vector<ScalarPtr> functions{x, call(ScalarOp::Abs, {call(ScalarOp::Subtract, {x, beside})}),
                                         call(ScalarOp::Multiply, {beside, beside})};
  for (const auto stored : {DType::Float32, DType::Float64, DType::Int64})
    for (const auto aggregate : {Aggregate::FirstLeast, Aggregate::FirstGreatest})
      for (const auto& function : functions)
        for (const auto& shape : std::vector<Searched>{
                 {{300, 19}, 'a'}, {{3, 70, 300}, 'b'}, {{5, 3, 2100}, 'c'}, {{40, 7, 90}, 'a'}, {{1, 1}, 'b'}}) {
          auto sample = search(random, shape, {.stored = stored, .compute = stored, .specials = true});
          const auto label = sample.einsum.aggregated.front();
          sample.einsum.aggregate = aggregate;
          sample.einsum.expression = with_place(with_types(function, std::array{stored, stored}, sample.labels, stored),
                                                stored, label, aggregate);
          sample.compute = sample.result = DType::Complex128;
          expect_reference(sample, random);
          if (HasFatalFailure()) return;
        }
}

// The ends of the range, and values that differ in their lowest bits alone.
TEST(PlacedValue, HoldsAllWholeNumbers) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> values{kLeast, kLeast + 1, -2049, -2048, -1, 0, 1, 2047, 2048, kMost - 1, kMost};
  const auto last = most_places(DType::Int64) - 1;
  for (const auto aggregate : {Aggregate::FirstLeast, Aggregate::FirstGreatest})
    for (const auto a : values)
      for (const auto b : values) {
        const auto first = placed_number(a, last, aggregate);
        const auto second = placed_number(b, 0, aggregate);
        const bool takes_first = aggregate == Aggregate::FirstLeast ? a < b : a > b;
        EXPECT_EQ(scalar_first_extreme(aggregate, first, second), takes_first ? first : second) << a << ", " << b;
      }
}

TEST_P(IndexSearchTest, ExtremesOfLongRowsAndManyCellsAgreeWithReference) {
  Random random(45);
  for (const auto& extents : std::vector<std::vector<std::int64_t>>{{3, 70000}, {70000, 3}, {2500, 40}, {30, 9000}})
    for (const char label : {'a', 'b'})
      for (const auto aggregate : {Aggregate::FirstLeast, Aggregate::FirstGreatest}) {
        auto sample = search(random, {extents, label}, {});
        auto* values = sample.tensors[0].mutable_data<float>();
        for (std::int64_t n = 0; n < sample.tensors[0].shape().element_count(); ++n)
          values[n] = static_cast<float>(draw(random, 0, 3000));
        expect_reference(placed(std::move(sample), aggregate), random);
        if (HasFatalFailure()) return;
      }
}

// Of nothing but the least value there is, the first one is found, also where it is infinite.
TEST_P(IndexSearchTest, InfiniteExtremesHaveTheirFirstIndex) {
  Random random(46);
  auto sample = search(random, {{2, 100}, 'b'}, {});
  std::fill_n(sample.tensors[0].mutable_data<float>(), 200, -std::numeric_limits<float>::infinity());
  const auto found = run_in_parts(placed(std::move(sample), Aggregate::FirstGreatest), level(), random);
  for (std::int64_t n = 0; n < 2; ++n)
    EXPECT_EQ(found.data<std::complex<double>>()[n], std::complex<double>(-std::numeric_limits<double>::infinity(), 0));
}

}  // namespace
}  // namespace eindb
