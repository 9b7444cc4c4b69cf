// Aggregates of users against the reference evaluator: in any order, in parts, and strictly in order.
#include "executor/kernels/user_fold.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "executor/kernels/kernel.hpp"
#include "executor/kernels/tile_operations.hpp"
#include "tensor/reference_evaluator.hpp"
#include "tensor/scalar_types.hpp"
#include "tests/kernels/instruction_levels.hpp"
#include "tests/kernels/random_einsum.hpp"

namespace eindb {
namespace {

using enum ScalarOp;

ScalarPtr folded(ScalarOp op, std::vector<ScalarPtr> arguments) {
  return ScalarExpression::call(op, std::move(arguments));
}
ScalarPtr x() { return ScalarExpression::operand(0); }
ScalarPtr y() { return ScalarExpression::operand(1); }
ScalarPtr constant_of(double value) { return ScalarExpression::real(value); }

UserAggregatePtr made_by(ScalarPtr combination, ScalarPtr initial, bool commutative, bool associative) {
  return std::make_shared<const UserAggregate>(UserAggregate{.name = "f",
                                                             .combination = std::move(combination),
                                                             .initial = std::move(initial),
                                                             .commutative = commutative,
                                                             .associative = associative});
}

UserAggregatePtr greatest() {
  return made_by(folded(Greatest, {x(), y()}), constant_of(-std::numeric_limits<double>::infinity()), true, true);
}
UserAggregatePtr total() { return made_by(folded(Add, {x(), y()}), constant_of(0), true, true); }
// The value of greatest magnitude, and of two such values the greater one.
UserAggregatePtr extreme() {
  const auto by_magnitude = folded(Greater, {folded(Abs, {x()}), folded(Abs, {y()})});
  const auto same = folded(Equal, {folded(Abs, {x()}), folded(Abs, {y()})});
  return made_by(folded(Case, {by_magnitude, x(), same, folded(Greatest, {x(), y()}), y()}), constant_of(0), true,
                 true);
}
UserAggregatePtr last() { return made_by(y(), constant_of(0), false, true); }
// Behind the last value that is positive, its place.
UserAggregatePtr last_positive() {
  return made_by(folded(Case, {folded(Greater, {y(), constant_of(0)}), y(), x()}), constant_of(0), false, true);
}
UserAggregatePtr decay() {
  return made_by(folded(Add, {folded(Multiply, {constant_of(0.5), x()}), y()}), constant_of(1), false, false);
}

// Of operations that round alike everywhere.
ScalarPtr random_combination(Random& random, int depth) {
  if (depth == 0 || draw(random, 0, 4) == 0) {
    const auto leaf = draw(random, 0, 5);
    return leaf < 2 ? x() : leaf < 5 ? y() : constant_of(static_cast<double>(draw(random, -4, 4)) / 2);
  }
  const auto inside = [&] { return random_combination(random, depth - 1); };
  constexpr std::array kOperations{Add, Subtract, Multiply, Least, Greatest, Abs, Negate, Case, Less};
  const auto op = kOperations[static_cast<std::size_t>(draw(random, 0, 8))];
  if (op == Abs || op == Negate) return folded(op, {inside()});
  if (op == Case) return folded(op, {folded(Less, {inside(), inside()}), inside(), inside()});
  return folded(op, {inside(), inside()});
}

class UserFoldTest : public testing::TestWithParam<InstructionSet> {
 protected:
  void expect_reference(const RandomEinSum& sample, Random& random) const {
    const auto expected =
        evaluate_reference(sample.einsum, sample.labels, sample.pointers(), sample.compute, sample.result);
    expect_close(run_in_parts(sample, level_table(GetParam()), random), expected, sample.precision(),
                 4 + terms_of(sample), sample.describe());
  }
};

INSTANTIATE_TEST_SUITE_P(AllLevels, UserFoldTest,
                         testing::ValuesIn(available_instruction_sets().begin(), available_instruction_sets().end()),
                         name_of_level);

// A sample of random_general whose aggregate is that of a user; nullopt if it aggregates nothing.
std::optional<RandomEinSum> with_aggregate(RandomEinSum sample, const UserAggregatePtr& user) {
  if (sample.einsum.aggregated.empty() || is_complex(sample.compute)) return std::nullopt;
  sample.einsum.aggregate = Aggregate::User;
  sample.einsum.user = user;
  sample.compute = sample.result = fold_type(*user, sample.compute);
  return sample;
}

TEST_P(UserFoldTest, AgreesWithReferenceOnRandomExpressions) {
  Random random(1);
  const std::array users{greatest(), total(), last(), last_positive()};
  for (int n = 0; n < 600 && !HasFatalFailure(); ++n)
    if (const auto sample = with_aggregate(random_general(random), users[static_cast<std::size_t>(n % 4)]))
      expect_reference(*sample, random);
  for (int n = 0; n < 60 && !HasFatalFailure(); ++n)
    if (const auto sample = with_aggregate(random_general(random, {.most_labels = 3, .largest_extent = 70}),
                                           users[static_cast<std::size_t>(n % 4)]))
      expect_reference(*sample, random);
}

// A plain operand, whose labels lie in any order, folded by any combination strictly in order.
TEST_P(UserFoldTest, FoldsInOrderAsTheReferenceDoes) {
  Random random(2);
  for (int n = 0; n < 600 && !HasFatalFailure(); ++n) {
    RandomEinSum sample;
    Labels labels;
    const auto rank = draw(random, 1, 4);
    for (std::int64_t d = 0; d < rank; ++d)
      labels.push_back(sample.labels.add("l" + std::to_string(d), draw(random, 1, rank < 3 ? 60 : 9)));
    const auto type = std::array{DType::Float32, DType::Float64, DType::Int64}[static_cast<std::size_t>(n % 3)];
    sample.einsum.inputs = {labels};
    std::shuffle(labels.begin(), labels.end(), random);
    const auto folded = draw(random, 1, rank);
    sample.einsum.aggregated = Labels(labels.begin(), labels.begin() + folded);
    sample.einsum.output = Labels(labels.begin() + folded, labels.end());
    sample.einsum.expression = ScalarExpression::operand(0);
    sample.einsum.aggregate = Aggregate::User;
    sample.einsum.user = n % 5 == 0 ? decay() : made_by(random_combination(random, 3), constant_of(2), false, false);
    sample.tensors.push_back(random_tile(random, type, Shape(sample.labels.extents(sample.einsum.inputs[0]))));
    sample.compute = sample.result = fold_type(*sample.einsum.user, type);
    expect_reference(sample, random);
  }
}

TEST_P(UserFoldTest, FoldsLongRowsAndColumnsInOrder) {
  Random random(3);
  for (const auto& [rows, columns] : {std::pair{5000, 1}, {5000, 3}, {3, 5000}, {300, 70}, {1, 9000}}) {
    for (const auto& user : {decay(), last(), last_positive(), greatest(), extreme()}) {
      for (int form = 0; form < 3; ++form) {
        RandomEinSum sample;
        const auto i = sample.labels.add("i", rows);
        const auto j = sample.labels.add("j", columns);
        sample.einsum = {.inputs = {{i, j}},
                         .output = form == 0 ? Labels{j} : Labels{},
                         .aggregated = form == 0   ? Labels{i}
                                       : form == 1 ? Labels{i, j}
                                                   : Labels{j, i},
                         .expression = ScalarExpression::operand(0),
                         .aggregate = Aggregate::User,
                         .user = user};
        sample.tensors.push_back(random_tile(random, DType::Float32, Shape({rows, columns})));
        sample.compute = sample.result = DType::Float32;
        expect_reference(sample, random);
      }
    }
  }
}

TEST(UserFold, AnEmptyGroupHasTheInitialValue) {
  const EinSum einsum{.inputs = {},
                      .output = {},
                      .aggregated = {},
                      .expression = constant_of(0),
                      .aggregate = Aggregate::User,
                      .user = decay()};
  EXPECT_EQ(identity_tile(einsum, DType::Float32, Shape({2})).data<float>()[1], 1.0F);
  EXPECT_EQ(identity_tile(einsum, DType::Int64, Shape({2})).data<std::int64_t>()[0], 1);
}

// An aggregate that combines by GREATEST or LEAST alone has the kernels of MAX and MIN, but not their value of no
// cells.
TEST(UserFold, ExtremesAreComputedAsSuch) {
  Random random(5);
  RandomEinSum sample;
  const auto i = sample.labels.add("i", 40);
  const auto j = sample.labels.add("j", 50);
  const auto k = sample.labels.add("k", 60);
  sample.einsum = {.inputs = {{i, j}, {j, k}},
                   .output = {i, k},
                   .aggregated = {j},
                   .expression = folded(Add, {x(), y()}),
                   .aggregate = Aggregate::User,
                   .user = greatest()};
  for (const auto& input : sample.einsum.inputs)
    sample.tensors.push_back(random_tile(random, DType::Float32, Shape(sample.labels.extents(input))));
  sample.compute = sample.result = DType::Float32;
  const Kernel kernel(sample.einsum, sample.labels, sample.types(), sample.compute, sample.result);
  EXPECT_TRUE(kernel.describe().starts_with("pairs MAX of sums")) << kernel.describe();
  auto result = Tile::uninitialized(DType::Float32, Shape({40, 60}));
  const std::vector<PartRange> ranges{{0, 40}, {0, 50}, {0, 60}};
  kernel.run(sample.pointers(), ranges, result, true);
  expect_close(result,
               evaluate_reference(sample.einsum, sample.labels, sample.pointers(), sample.compute, sample.result),
               DType::Float32, 1, sample.describe());
  const auto in_order = made_by(folded(Greatest, {x(), y()}), constant_of(0), false, true);
  sample.einsum.user = in_order;
  EXPECT_EQ(with_plain_extreme(sample.einsum, sample.compute).user, in_order) << "only what may be split";
}

TEST(UserFold, CombinesPartialResults) {
  Random random(4);
  const EinSum einsum{.inputs = {},
                      .output = {},
                      .aggregated = {},
                      .expression = constant_of(0),
                      .aggregate = Aggregate::User,
                      .user = extreme()};
  auto into = random_tile(random, DType::Float64, Shape({1500}));
  const std::vector<double> before(into.data<double>(), into.data<double>() + 1500);
  const auto from = random_tile(random, DType::Float64, Shape({1500}));
  combine(einsum, into, from);
  for (int n = 0; n < 1500; ++n) {
    const auto a = before[static_cast<std::size_t>(n)];
    const auto b = from.data<double>()[n];
    const auto larger = std::abs(a) > std::abs(b) ? a : std::abs(a) == std::abs(b) ? std::max(a, b) : b;
    ASSERT_EQ(into.data<double>()[n], larger) << n;
  }
}

TEST(UserFold, TheTypeHoldsWhatTheCombinationMakes) {
  const auto mean =
      made_by(folded(Divide, {folded(Add, {x(), y()}), ScalarExpression::integer(2)}), constant_of(0), false, false);
  EXPECT_EQ(fold_type(*mean, DType::Int64), DType::Float64);
  EXPECT_EQ(fold_type(*mean, DType::Float32), DType::Float32);
  EXPECT_EQ(fold_type(*mean, DType::Complex64), DType::Complex64);
  EXPECT_EQ(fold_type(*greatest(), DType::Int64), DType::Int64);
  const auto modulus = made_by(folded(Add, {folded(Abs, {x()}), folded(Abs, {y()})}), constant_of(0), true, true);
  EXPECT_EQ(fold_type(*modulus, DType::Complex128), DType::Complex128);
}

}  // namespace
}  // namespace eindb
