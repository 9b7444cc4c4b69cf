#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string_view>

#include "executor/kernels/instruction_set.hpp"
#include "tensor/reference_evaluator.hpp"
#include "tests/kernels/instruction_levels.hpp"
#include "tests/kernels/random_einsum.hpp"

namespace eindb {
namespace {

// Contractions for each path through the kernels, small ones and ones larger than their blocks; letters are labels.
struct Contraction {
  std::string_view x, y, result;
  std::map<char, std::int64_t> extents;
};

const std::vector<Contraction>& contraction_shapes() {
  static const std::vector<Contraction> shapes{
      {"ab", "bc", "ac", {{'a', 5}, {'b', 7}, {'c', 3}}},
      {"ab", "bc", "ac", {{'a', 70}, {'b', 300}, {'c', 90}}},
      {"ba", "cb", "ca", {{'a', 65}, {'b', 130}, {'c', 33}}},
      {"ab", "bc", "ac", {{'a', 3000}, {'b', 6}, {'c', 5}}},
      {"ab", "bc", "ac", {{'a', 9}, {'b', 5000}, {'c', 4}}},
      {"ab", "b", "a", {{'a', 67}, {'b', 530}}},
      {"ab", "a", "b", {{'a', 67}, {'b', 530}}},
      {"a", "a", "", {{'a', 4001}}},
      {"a", "b", "ab", {{'a', 67}, {'b', 130}}},
      {"ac", "bc", "abc", {{'a', 17}, {'b', 9}, {'c', 33}}},
      {"abc", "acd", "abd", {{'a', 50}, {'b', 8}, {'c', 8}, {'d', 8}}},
      {"abc", "acd", "abd", {{'a', 3}, {'b', 40}, {'c', 70}, {'d', 50}}},
      {"bca", "cda", "bda", {{'a', 37}, {'b', 5}, {'c', 6}, {'d', 7}}},
      {"abc", "ac", "ab", {{'a', 6}, {'b', 41}, {'c', 65}}},
      {"abcde", "efbad", "cf", {{'a', 3}, {'b', 4}, {'c', 9}, {'d', 5}, {'e', 6}, {'f', 7}}},
      {"efbad", "cf", "abcde", {{'a', 3}, {'b', 4}, {'c', 9}, {'d', 5}, {'e', 6}, {'f', 17}}},
      {"dega", "gfbc", "abcdef", {{'a', 3}, {'b', 4}, {'c', 3}, {'d', 5}, {'e', 4}, {'f', 3}, {'g', 19}}},
      {"abc", "bd", "ad", {{'a', 11}, {'b', 23}, {'c', 9}, {'d', 14}}},
  };
  return shapes;
}

ScalarPtr product_of_operands() {
  return ScalarExpression::call(ScalarOp::Multiply, {ScalarExpression::operand(0), ScalarExpression::operand(1)});
}

/// SUM over the product of two tensors of zeros.
RandomEinSum sample_of(const Contraction& shape, DType type) {
  RandomEinSum sample;
  std::map<char, Label> labels;
  for (const auto& [letter, extent] : shape.extents) labels[letter] = sample.labels.add({letter}, extent);
  const auto of = [&](std::string_view letters) {
    Labels result;
    for (const char letter : letters) result.push_back(labels.at(letter));
    return result;
  };
  Labels summed;
  for (const auto& [letter, label] : labels) {
    if (shape.result.find(letter) == std::string_view::npos) summed.push_back(label);
  }
  sample.einsum = {.inputs = {of(shape.x), of(shape.y)},
                   .output = of(shape.result),
                   .aggregated = summed,
                   .expression = product_of_operands(),
                   .aggregate = summed.empty() ? Aggregate::None : Aggregate::Sum};
  sample.compute = sample.result = type;
  for (const auto& input : sample.einsum.inputs)
    sample.tensors.push_back(Tile::zeros(type, Shape(sample.labels.extents(input))));
  return sample;
}

/// Sets every element: a number of `next`.
template <typename T, typename Next>
void fill(Tile& tile, const Next& next) {
  for (std::int64_t n = 0; n < tile.shape().element_count(); ++n) tile.mutable_data<T>()[n] = static_cast<T>(next());
}

/// The special values for a few positions of an otherwise ordinary tensor.
template <typename T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  // The square of the largest number overflows whatever is added; for smaller ones, sums would depend on the order.
  return {Limits::quiet_NaN(),  Limits::infinity(),    -Limits::infinity(), T{-0.0},
          Limits::denorm_min(), -Limits::denorm_min(), Limits::max(),       Limits::min()};
}

/// The same value or both NaN; `bound` between finite ones.
template <typename T>
bool agree(T actual, T expected, double bound) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (std::isinf(expected)) return actual == expected;
  return std::abs(static_cast<double>(actual) - static_cast<double>(expected)) <= bound;
}

class SpecialValuesTest : public testing::TestWithParam<InstructionSet> {
 protected:
  const LevelTable& level() const { return level_table(GetParam()); }

  Tile reference(const RandomEinSum& sample) const {
    return evaluate_reference(sample.einsum, sample.labels, sample.pointers(), sample.compute, sample.result);
  }

  template <typename T>
  void expect_agreement(const RandomEinSum& sample, Random& random, double bound) const {
    const auto expected = reference(sample);
    const auto actual = run_in_parts(sample, level(), random);
    ASSERT_EQ(actual.shape(), expected.shape());
    for (std::int64_t n = 0; n < expected.shape().element_count(); ++n) {
      const auto a = actual.data<T>()[n];
      const auto b = expected.data<T>()[n];
      ASSERT_TRUE(agree(a, b, bound)) << sample.describe() << "\n  element " << n << ": " << a << " instead of " << b;
    }
  }

  template <typename T>
  void plant_one_by_one(const Contraction& shape, DType type, Random& random) const {
    for (const auto special : special_values<T>()) {
      auto sample = sample_of(shape, type);
      // All of one sign: an infinite sum is infinite in every order.
      for (auto& tile : sample.tensors) fill<T>(tile, [&] { return draw(random, 1, 4); });
      auto& tile = sample.tensors[static_cast<std::size_t>(draw(random, 0, 1))];
      const auto last = tile.shape().element_count() - 1;
      for (const auto place : {std::int64_t{0}, draw(random, 0, last), last}) tile.mutable_data<T>()[place] = special;
      // Sums around the largest number may overflow in one order and not in another; with a factor of 16 they always
      // do.
      if (special == std::numeric_limits<T>::max())
        for (auto& other : sample.tensors)
          if (&other != &tile) fill<T>(other, [] { return 16; });
      expect_agreement<T>(sample, random, std::numeric_limits<T>::epsilon() * 64 * terms_of(sample));
    }
  }

  template <typename T>
  void plant_denormals(const Contraction& shape, DType type, Random& random) const {
    auto sample = sample_of(shape, type);
    fill<T>(sample.tensors[0],
            [&] { return static_cast<T>(draw(random, -3, 3)) * std::numeric_limits<T>::denorm_min(); });
    fill<T>(sample.tensors[1], [&] { return draw(random, 1, 3); });
    expect_agreement<T>(sample, random, 0);  // integer multiples of the least number: every sum is exact
  }
};

INSTANTIATE_TEST_SUITE_P(AllLevels, SpecialValuesTest,
                         testing::ValuesIn(available_instruction_sets().begin(), available_instruction_sets().end()),
                         name_of_level);

// NaN, infinities, zeros of either sign, numbers near the ends of the range: at the first, the last and some element.
TEST_P(SpecialValuesTest, ContractionsAgreeWithReference) {
  Random random(21);
  for (const auto& shape : contraction_shapes()) {
    plant_one_by_one<float>(shape, DType::Float32, random);
    plant_one_by_one<double>(shape, DType::Float64, random);
    if (HasFatalFailure()) return;
  }
}

// Infinite times zero is NaN, and so is the sum of infinities of both signs: no zero is skipped.
TEST_P(SpecialValuesTest, ZerosDoNotHideInfinities) {
  Random random(22);
  for (const auto& shape : contraction_shapes()) {
    auto sample = sample_of(shape, DType::Float64);
    fill<double>(sample.tensors[0], [&] { return draw(random, 0, 9) == 0 ? INFINITY : 0; });
    fill<double>(sample.tensors[1], [&] { return draw(random, 0, 1) == 0 ? 0 : -1; });
    expect_agreement<double>(sample, random, 0);
    if (HasFatalFailure()) return;
  }
}

// No kernel runs in a mode that treats denormals as zero.
TEST_P(SpecialValuesTest, DenormalsAreKept) {
  Random random(23);
  for (const auto& shape : contraction_shapes()) {
    plant_denormals<float>(shape, DType::Float32, random);
    plant_denormals<double>(shape, DType::Float64, random);
    if (HasFatalFailure()) return;
  }
}

// With every extent in turn 0: a sum of no products is 0, and a result without elements has none.
TEST_P(SpecialValuesTest, EmptyExtentsGiveZerosOrNothing) {
  Random random(24);
  for (const auto& shape : contraction_shapes()) {
    for (const auto& [letter, extent] : shape.extents) {
      auto empty = shape;
      empty.extents[letter] = 0;
      auto sample = sample_of(empty, DType::Float32);
      for (auto& tile : sample.tensors) fill<float>(tile, [&] { return draw(random, 1, 4); });
      expect_agreement<float>(sample, random, 0);
      if (HasFatalFailure()) return;
    }
  }
}

/// One expression of one input, with or without an aggregate over its second label.
RandomEinSum unary(ScalarPtr expression, Aggregate aggregate, Tile tile) {
  RandomEinSum sample;
  const auto i = sample.labels.add("i", tile.shape()[0]);
  const auto j = sample.labels.add("j", tile.shape()[1]);
  sample.einsum = {.inputs = {{i, j}},
                   .output = aggregate != Aggregate::None ? Labels{i} : Labels{i, j},
                   .aggregated = aggregate != Aggregate::None ? Labels{j} : Labels{},
                   .expression = std::move(expression),
                   .aggregate = aggregate};
  sample.compute = sample.result = tile.dtype();
  sample.tensors.push_back(std::move(tile));
  return sample;
}

Tile specials_among_ones(Random& random, std::int64_t rows, std::int64_t columns) {
  auto tile = Tile::zeros(DType::Float64, Shape({rows, columns}));
  const auto specials = special_values<double>();
  fill<double>(tile, [&] {
    const auto drawn = static_cast<std::size_t>(draw(random, 0, 40));
    return drawn < specials.size() ? specials[drawn] : 1.0;
  });
  return tile;
}

// Rows of lengths that fill vectors and leave tails.
TEST_P(SpecialValuesTest, ExtremesAgreeWithReference) {
  Random random(25);
  for (const auto aggregate : {Aggregate::Min, Aggregate::Max}) {
    for (const std::int64_t columns : {1, 7, 16, 33, 1030}) {
      const auto sample = unary(ScalarExpression::operand(0), aggregate, specials_among_ones(random, 40, columns));
      expect_agreement<double>(sample, random, 0);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(SpecialValuesTest, SumsAgreeWithReference) {
  Random random(26);
  for (const auto special : special_values<double>()) {
    for (const std::int64_t columns : {1, 7, 16, 33, 1030}) {
      auto tile = Tile::zeros(DType::Float64, Shape({20, columns}));
      fill<double>(tile, [&] { return draw(random, 1, 2); });
      for (std::int64_t row = 0; row < 20; row += 2)
        tile.mutable_data<double>()[row * columns + draw(random, 0, columns - 1)] = special;
      // Of the largest number any sum is within one rounding of it.
      const double bound = special == std::numeric_limits<double>::max() ? special * 1e-12 : 1e-10;
      expect_agreement<double>(unary(ScalarExpression::operand(0), Aggregate::Sum, std::move(tile)), random, bound);
      if (HasFatalFailure()) return;
    }
  }
}

// The sign of a zero shows in a division by it.
TEST_P(SpecialValuesTest, SignsOfZerosAreKept) {
  const auto x = ScalarExpression::operand(0);
  const auto one = ScalarExpression::integer(1);
  const auto call = [](ScalarOp op, std::vector<ScalarPtr> arguments) {
    return ScalarExpression::call(op, std::move(arguments));
  };
  const auto reciprocal = [&](ScalarPtr of) { return call(ScalarOp::Divide, {one, std::move(of)}); };
  Random random(27);
  for (const auto& expression :
       {reciprocal(x), reciprocal(call(ScalarOp::Negate, {x})), reciprocal(call(ScalarOp::Multiply, {x, one})),
        reciprocal(call(ScalarOp::Abs, {x})), reciprocal(call(ScalarOp::Sqrt, {x})),
        reciprocal(call(ScalarOp::Floor, {x})), reciprocal(call(ScalarOp::Round, {x})),
        reciprocal(call(ScalarOp::Add, {x, x})), reciprocal(call(ScalarOp::Subtract, {x, x}))}) {
    expect_agreement<double>(unary(expression, Aggregate::None, specials_among_ones(random, 9, 131)), random, 1e-300);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace eindb
