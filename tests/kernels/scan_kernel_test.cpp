// Running aggregates against the reference evaluator.
#include "executor/kernels/scan_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "executor/kernels/kernel.hpp"
#include "tensor/reference_evaluator.hpp"
#include "tensor/scalar_semantics.hpp"
#include "tensor/scalar_types.hpp"
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
    for (const auto aggregate : {Aggregate::Sum, Aggregate::Prod, Aggregate::Min, Aggregate::Max}) {
      if (is_complex(type) && (aggregate == Aggregate::Min || aggregate == Aggregate::Max)) continue;
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
