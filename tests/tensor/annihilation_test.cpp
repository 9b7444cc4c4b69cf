#include "tensor/annihilation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tensor/reference_evaluator.hpp"
#include "tensor/scalar_semantics.hpp"
#include "tensor/scalar_types.hpp"
#include "tests/tensor/scalar_builders.hpp"

namespace eindb {
namespace {

using E = ScalarExpression;
using enum ScalarOp;

ScalarPtr number(int value) { return E::integer(value); }

constexpr OperandFacts kAbsent{.zero = true, .magnitude = 0};
constexpr OperandFacts kSmall{.zero = false, .magnitude = 4};
constexpr OperandFacts kInfinite{.zero = false, .magnitude = kUnbounded};
OperandFacts below(int magnitude) { return {.zero = false, .magnitude = magnitude}; }

Zero zero(const ScalarPtr& e, OperandFacts of_x, OperandFacts of_y, DType type = DType::Float32) {
  const OperandFacts facts[] = {of_x, of_y};
  const DType types[] = {type, type};
  return zero_of(*with_types(e, types, LabelTable{}, type), facts, types);
}

TEST(Annihilation, ProductsAnnihilateUnlessTheOtherFactorMayBeInfinite) {
  const auto product = call(Multiply, {x(), y()});
  EXPECT_EQ(zero(product, kAbsent, kSmall), Zero::EitherSign);
  EXPECT_EQ(zero(product, kSmall, kAbsent), Zero::EitherSign);
  EXPECT_EQ(zero(product, kAbsent, kAbsent), Zero::Plus);
  EXPECT_EQ(zero(product, kAbsent, kInfinite), Zero::Unknown);
  EXPECT_EQ(zero(product, kSmall, kSmall), Zero::Unknown);
  EXPECT_EQ(zero(product, kAbsent, kSmall, DType::Int64), Zero::Plus);
  EXPECT_EQ(zero(product, kAbsent, below(63), DType::Int64), Zero::Plus);
}

TEST(Annihilation, IntermediateValuesMayOverflow) {
  const auto squared = call(Multiply, {y(), y(), x()});
  EXPECT_EQ(zero(squared, kAbsent, below(64)), Zero::EitherSign);
  EXPECT_EQ(zero(squared, kAbsent, below(65)), Zero::Unknown) << "2^65 squared is infinite in FLOAT32";
  EXPECT_EQ(zero(squared, kAbsent, below(65), DType::Float64), Zero::EitherSign);
  EXPECT_EQ(zero(call(Multiply, {x(), y(), y()}), kAbsent, below(100)), Zero::EitherSign) << "0 * y * y, from the left";
  EXPECT_EQ(zero(call(Multiply, {number(8), y(), x()}), kAbsent, below(124)), Zero::EitherSign);
  EXPECT_EQ(zero(call(Multiply, {number(8), y(), x()}), kAbsent, below(125)), Zero::Unknown);
  EXPECT_EQ(zero(call(Multiply, {x(), call(Exp, {y()})}), kAbsent, kSmall), Zero::Unknown);
}

TEST(Annihilation, SumsAndFunctions) {
  const auto product = call(Multiply, {x(), y()});
  EXPECT_EQ(zero(call(Subtract, {product, call(Multiply, {number(3), x()})}), kAbsent, kSmall), Zero::EitherSign);
  EXPECT_EQ(zero(call(Add, {x(), y()}), kAbsent, kSmall), Zero::Unknown);
  EXPECT_EQ(zero(call(Add, {x(), y()}), kAbsent, kAbsent), Zero::Plus);
  EXPECT_EQ(zero(call(Add, {x(), product}), kAbsent, kSmall), Zero::Plus);
  EXPECT_EQ(zero(call(Abs, {product}), kAbsent, kSmall), Zero::Plus);
  EXPECT_EQ(zero(call(Relu, {x()}), kAbsent, kSmall), Zero::Plus);
  EXPECT_EQ(zero(call(Negate, {x()}), kAbsent, kSmall), Zero::EitherSign) << "-0";
  EXPECT_EQ(zero(call(Exp, {x()}), kAbsent, kSmall), Zero::Unknown);
  EXPECT_EQ(zero(call(Sin, {x()}), kAbsent, kSmall), Zero::Plus);
  EXPECT_EQ(zero(call(Divide, {x(), y()}), kAbsent, kSmall), Zero::Unknown) << "0 / 0";
  EXPECT_EQ(zero(call(Divide, {product, number(-2)}), kAbsent, kSmall), Zero::EitherSign);
  EXPECT_EQ(zero(call(Least, {x(), y()}), kAbsent, kSmall), Zero::Unknown);
  EXPECT_EQ(zero(call(And, {x(), y()}), kAbsent, kInfinite), Zero::Plus);
  EXPECT_EQ(zero(call(Or, {x(), y()}), kAbsent, kInfinite), Zero::Unknown);
}

TEST(Annihilation, BranchesThatAreNotTakenDoNotCount) {
  const auto positive = call(Greater, {x(), number(0)});
  EXPECT_EQ(zero(call(Case, {positive, y(), number(0)}), kAbsent, kInfinite), Zero::Plus);
  EXPECT_EQ(zero(call(Case, {call(Equal, {x(), number(0)}), x(), y()}), kAbsent, kInfinite), Zero::Plus);
  EXPECT_EQ(zero(call(Case, {y(), x(), call(Multiply, {x(), y()})}), kAbsent, kSmall), Zero::EitherSign);
  EXPECT_EQ(zero(call(Case, {y(), x(), number(1)}), kAbsent, kSmall), Zero::Unknown);
}

TEST(Annihilation, OnlySumsAndCellsOfTheirOwnTakeZeros) {
  LabelTable labels;
  const Label i = labels.add("i", 4);
  EinSum einsum{.inputs = {{i}, {i}},
                .output = {},
                .aggregated = {i},
                .expression = call(Multiply, {x(), y()}),
                .aggregate = Aggregate::Sum};
  const DType types[] = {DType::Float64, DType::Float64};
  const OperandFacts one[] = {kAbsent, kSmall};
  const OperandFacts both[] = {kAbsent, kAbsent};
  EXPECT_TRUE(changes_nothing(einsum, one, types));
  for (const auto aggregate : {Aggregate::Prod, Aggregate::Min, Aggregate::Max}) {
    einsum.aggregate = aggregate;
    EXPECT_FALSE(changes_nothing(einsum, both, types));
  }
  einsum.aggregate = Aggregate::None;
  std::swap(einsum.output, einsum.aggregated);
  EXPECT_FALSE(changes_nothing(einsum, one, types)) << "-0, where the other is negative";
  EXPECT_TRUE(changes_nothing(einsum, both, types));
}

template <class T>
Tile tile_of(std::initializer_list<T> values) {
  auto tile = Tile::zeros(dtype_of<T>, Shape({static_cast<std::int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), tile.template mutable_data<T>());
  return tile;
}

TEST(Annihilation, MagnitudeIsTheLeastPowerOfTwoAboveAllValues) {
  EXPECT_EQ(magnitude_of(tile_of<float>({0.5F, -0.0F})), 0);
  EXPECT_EQ(magnitude_of(tile_of<float>({1.0F})), 1);
  EXPECT_EQ(magnitude_of(tile_of<double>({-3.5, 1e-300, 2})), 2);
  EXPECT_EQ(magnitude_of(tile_of<float>({std::numeric_limits<float>::max()})), 128);
  EXPECT_EQ(magnitude_of(tile_of<double>({1, std::numeric_limits<double>::lowest()})), 1024);
  EXPECT_EQ(magnitude_of(tile_of<double>({1, std::nan("")})), kUnbounded);
  EXPECT_EQ(magnitude_of(tile_of<float>({-std::numeric_limits<float>::infinity(), 1})), kUnbounded);
  EXPECT_EQ(magnitude_of(tile_of<std::complex<float>>({{0, 5}})), 3);
  EXPECT_EQ(magnitude_of(tile_of<std::complex<double>>({{0, INFINITY}, {1, 1}})), kUnbounded);
  EXPECT_LE(magnitude_of(tile_of<std::int64_t>({1})), 63);
  EXPECT_EQ(magnitude_of(Tile::zeros(DType::Float32, Shape({0}))), 0);
}

// Whatever is reported as zero is zero, for all values that the facts allow.
class RandomExpressions {
 public:
  explicit RandomExpressions(unsigned seed) : random_(seed) {}

  std::size_t draw(std::size_t count) { return random_() % count; }

  ScalarPtr expression(int depth) {
    if (depth == 0 || draw(6) == 0)
      return draw(4) == 0 ? E::integer(static_cast<int>(draw(5)) - 2) : E::operand(draw(3));
    const auto op = static_cast<ScalarOp>(draw(static_cast<std::size_t>(Case) + 1));
    if (op == MakeComplex || works_on_bits(op)) return expression(depth - 1);
    const auto& info = info_of(op);
    auto count = info.max_arguments < 0 ? info.min_arguments + static_cast<int>(draw(2)) : info.max_arguments;
    if (op == Case) count |= 1;
    std::vector<ScalarPtr> arguments;
    for (int n = 0; n < count; ++n) arguments.push_back(expression(depth - 1));
    return call(op, std::move(arguments));
  }

  float value(const OperandFacts& facts) {
    if (facts.zero) return 0;
    const float special[] = {INFINITY, -INFINITY, NAN};
    if (facts.magnitude == kUnbounded) return special[draw(3)];
    const auto largest = std::nextafter(std::ldexp(1.0F, facts.magnitude - 1) * 2, 0.0F);
    const float values[] = {largest, -largest, -1, 0.5, -0.0F, 1e-40F, 0};
    return values[draw(7)];
  }

 private:
  std::mt19937 random_;
};

TEST(Annihilation, ClaimsHoldForRandomExpressions) {
  LabelTable labels;
  const Label i = labels.add("i", 64);
  RandomExpressions random(5);
  const DType types[] = {DType::Float32, DType::Float32, DType::Float32};
  int claims = 0;
  for (int n = 0; n < 60000; ++n) {
    const auto e = random.expression(3);
    const OperandFacts choices[] = {kAbsent, kSmall, kInfinite, below(60), below(126), below(128)};
    std::vector<OperandFacts> facts;
    for (int operand = 0; operand < 3; ++operand) facts.push_back(choices[random.draw(6)]);
    const auto typed = with_types(e, types, labels, DType::Float32);
    const auto claim = zero_of(*typed, facts, types);
    if (claim == Zero::Unknown) continue;
    std::vector<Tile> tiles;
    std::vector<const DenseTensor*> inputs;
    for (const auto& fact : facts) {
      tiles.push_back(Tile::zeros(DType::Float32, Shape({64})));
      for (int at = 0; at < 64; ++at) tiles.back().mutable_data<float>()[at] = random.value(fact);
    }
    for (const auto& tile : tiles) inputs.push_back(&tile);
    const EinSum einsum{.inputs = {{i}, {i}, {i}}, .output = {i}, .aggregated = {}, .expression = typed};
    const auto result = evaluate_reference(einsum, labels, inputs, DType::Float32, DType::Float32);
    EXPECT_TRUE(claim != Zero::Plus || result.is_all_zero());
    for (int at = 0; at < 64; ++at) ASSERT_EQ(result.data<float>()[at], 0.0F) << n;
    ++claims;
  }
  EXPECT_GT(claims, 3000);
}

}  // namespace
}  // namespace eindb
