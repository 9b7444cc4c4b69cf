// Running aggregates against the reference evaluator.
#include "executor/kernels/scan_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "executor/kernels/kernel.hpp"
#include "tensor/reference_evaluator.hpp"
#include "tensor/scalar_semantics.hpp"
#include "tensor/scalar_types.hpp"
#include "tensor/user_aggregate.hpp"
#include "tests/kernels/random_einsum.hpp"
#include "tests/tensor/scalar_builders.hpp"

namespace eindb {
namespace {

using enum ScalarOp;

ScalarPtr nothing(Aggregate aggregate, DType type) {
  const bool is_whole = type == DType::Int64 || aggregate == Aggregate::Sum || aggregate == Aggregate::Prod;
  return is_whole ? ScalarExpression::integer(identity_of<std::int64_t>(aggregate))
                  : ScalarExpression::real(identity_of<double>(aggregate));
}

// Rows in any order of labels; long ones are more than are scanned side by side.
RandomEinSum random_scan(Random& random, DType type, Aggregate aggregate) {
  RandomEinSum sample;
  const auto extent = draw(random, 1, 12);
  const auto along = sample.labels.add("s", extent);
  const auto upto = sample.labels.add("t", draw(random, 0, 3) == 0 ? draw(random, 1, 12) : extent);
  Labels source{along};
  Labels output{upto};
  for (std::int64_t n = draw(random, 0, 2); n-- > 0;) {
    const auto label = sample.labels.add("i" + std::to_string(n), draw(random, 1, draw(random, 0, 5) == 0 ? 300 : 9));
    source.push_back(label);
    output.push_back(label);
  }
  if (draw(random, 0, 9) == 0) output.push_back(sample.labels.add("copies", 2));
  std::shuffle(source.begin(), source.end(), random);
  std::shuffle(output.begin(), output.end(), random);
  const std::vector<ScalarOp> comparisons{LessEqual, Less, GreaterEqual, Greater};
  std::vector<ScalarPtr> sides{ScalarExpression::label_index(along), ScalarExpression::label_index(upto)};
  if (draw(random, 0, 1) == 0) std::swap(sides[0], sides[1]);
  auto condition = call(comparisons[static_cast<std::size_t>(draw(random, 0, 3))], std::move(sides));
  sample.einsum = {.inputs = {source},
                   .output = output,
                   .aggregated = {along},
                   .expression = call(Case, {std::move(condition), x(), nothing(aggregate, type)}),
                   .aggregate = aggregate};
  sample.tensors.push_back(random_tile(random, type, Shape(sample.labels.extents(source))));
  sample.compute = sample.result = type;
  sample.einsum.expression = with_types(sample.einsum.expression, sample.types(), sample.labels, type);
  return sample;
}

TEST(ScanKernel, AgreesWithReference) {
  Random random(27);
  for (const auto type : {DType::Float32, DType::Float64, DType::Int64, DType::Complex64, DType::Complex128}) {
    for (const auto aggregate :
         {Aggregate::Sum, Aggregate::Prod, Aggregate::Min, Aggregate::Max, Aggregate::LogSumExp}) {
      const bool is_ordered = aggregate != Aggregate::Sum && aggregate != Aggregate::Prod;
      if (is_complex(type) && is_ordered) continue;
      if (type == DType::Int64 && aggregate == Aggregate::LogSumExp) continue;
      for (int n = 0; n < 60 && !HasFatalFailure(); ++n) {
        const auto sample = random_scan(random, type, aggregate);
        ASSERT_TRUE(scan_form(sample.einsum, type)) << sample.describe();
        EXPECT_EQ(Kernel(sample.einsum, sample.labels, sample.types(), type, type).describe(), "scan");
        const auto expected =
            evaluate_reference(sample.einsum, sample.labels, sample.pointers(), sample.compute, sample.result);
        expect_close(run_in_parts(sample, preferred_level_table(), random), expected, sample.compute, terms_of(sample),
                     sample.describe());
      }
    }
  }
}

// y if it is not 0, else x: the order counts.
UserAggregatePtr latest() {
  const auto combination = call(Case, {call(NotEqual, {y(), ScalarExpression::integer(0)}), y(), x()});
  return std::make_shared<const UserAggregate>(UserAggregate{
      .name = "latest", .combination = combination, .initial = ScalarExpression::integer(0), .associative = true});
}

// x + y - x * y
UserAggregatePtr any_of() {
  const auto sum = call(Add, {x(), y()});
  return std::make_shared<const UserAggregate>(
      UserAggregate{.name = "any_of",
                    .combination = call(Subtract, {sum, call(Multiply, {x(), y()})}),
                    .initial = ScalarExpression::integer(0),
                    .commutative = true,
                    .associative = true});
}

TEST(ScanKernel, FoldsByUsersAggregates) {
  Random random(29);
  for (const auto type : {DType::Float32, DType::Float64, DType::Int64, DType::Complex128}) {
    for (const auto& user : {latest(), any_of()}) {
      for (int n = 0; n < 80 && !HasFatalFailure(); ++n) {
        auto sample = random_scan(random, type, Aggregate::Sum);
        sample.einsum.aggregate = Aggregate::User;
        sample.einsum.user = user;
        ASSERT_TRUE(scan_form(sample.einsum, type)) << sample.describe();
        const auto expected =
            evaluate_reference(sample.einsum, sample.labels, sample.pointers(), sample.compute, sample.result);
        expect_close(run_in_parts(sample, preferred_level_table(), random), expected, sample.compute, terms_of(sample),
                     sample.describe());
      }
    }
  }
}

// Lines that are combined in segments, and end anywhere in them.
TEST(ScanKernel, FoldsLongLines) {
  Random random(31);
  for (const std::int64_t extent : {127, 128, 129, 4095, 4096, 4097, 9001}) {
    for (const auto comparison : {LessEqual, Less, GreaterEqual, Greater}) {
      LabelTable labels;
      const auto s = labels.add("s", extent);
      const auto t = labels.add("t", extent);
      auto cells = Tile::zeros(DType::Int64, Shape({extent}));
      const std::span values(cells.mutable_data<std::int64_t>(), static_cast<std::size_t>(extent));
      for (auto& value : values) value = draw(random, 0, 3) == 0 ? draw(random, 1, 99) : 0;
      const EinSum einsum{
          .inputs = {{s}},
          .output = {t},
          .aggregated = {s},
          .expression =
              call(Case, {call(comparison, {ScalarExpression::label_index(s), ScalarExpression::label_index(t)}), x(),
                          ScalarExpression::integer(0)}),
          .aggregate = Aggregate::User,
          .user = latest()};
      auto found = Tile::uninitialized(DType::Int64, Shape({extent}));
      const std::vector<const Tile*> operands{&cells};
      const std::vector<PartRange> ranges{{0, extent}, {0, extent}};
      Kernel(einsum, labels, {DType::Int64}, DType::Int64, DType::Int64).run(operands, ranges, found, true);
      const bool forward = comparison == LessEqual || comparison == Less;
      const auto* results = found.data<std::int64_t>();
      for (std::int64_t n = 0; n < extent; ++n) {
        const auto first = forward ? 0 : comparison == Greater ? n + 1 : n;
        const auto end = !forward ? extent : comparison == Less ? n : n + 1;
        std::int64_t expected = 0;
        for (auto c = end; c-- > first && expected == 0;) expected = values[static_cast<std::size_t>(c)];
        ASSERT_EQ(results[n], expected) << extent << " " << n;
      }
    }
  }
}

TEST(ScanForm, IsARunningAggregateOfOneOperand) {
  LabelTable labels;
  const auto s = labels.add("s", 5);
  const auto t = labels.add("t", 5);
  const auto before = call(LessEqual, {ScalarExpression::label_index(s), ScalarExpression::label_index(t)});
  const auto form = [&](Aggregate aggregate, ScalarPtr value, ScalarPtr otherwise, const Labels& source) {
    return scan_form({.inputs = {source},
                      .output = {t},
                      .aggregated = {s},
                      .expression = call(Case, {before, std::move(value), std::move(otherwise)}),
                      .aggregate = aggregate},
                     DType::Float64);
  };
  const auto zero = ScalarExpression::integer(0);
  ASSERT_TRUE(form(Aggregate::Sum, x(), zero, {s}));
  EXPECT_TRUE(form(Aggregate::Sum, x(), zero, {s})->forward);
  EXPECT_TRUE(form(Aggregate::Sum, x(), zero, {s})->inclusive);
  EXPECT_FALSE(form(Aggregate::Max, x(), zero, {s})) << "0 is a value";
  EXPECT_FALSE(form(Aggregate::Prod, x(), zero, {s}));
  EXPECT_TRUE(form(Aggregate::Prod, x(), ScalarExpression::integer(1), {s}));
  EXPECT_TRUE(form(Aggregate::Min, x(), ScalarExpression::real(std::numeric_limits<double>::infinity()), {s}));
  EXPECT_FALSE(form(Aggregate::Sum, call(Exp, {x()}), zero, {s})) << "a function of the operand";
  EXPECT_FALSE(form(Aggregate::Sum, x(), zero, {s, s})) << "a diagonal";
  EXPECT_FALSE(form(Aggregate::Sum, x(), zero, {t})) << "nothing is aggregated";
}

}  // namespace
}  // namespace eindb
