#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "executor/kernels/instruction_set.hpp"
#include "tensor/reference_evaluator.hpp"
#include "tensor/scalar_semantics.hpp"
#include "tests/kernels/instruction_levels.hpp"
#include "tests/kernels/random_einsum.hpp"

namespace eindb {
namespace {

class ReductionTest : public testing::TestWithParam<InstructionSet> {
 protected:
  const LevelTable& level() const { return level_table(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(AllLevels, ReductionTest,
                         testing::ValuesIn(available_instruction_sets().begin(), available_instruction_sets().end()),
                         name_of_level);

constexpr std::array kReducedTypes{DType::Float32, DType::Float64, DType::Int64, DType::Complex64, DType::Complex128};
constexpr std::array kAggregates{Aggregate::Sum, Aggregate::Prod, Aggregate::Min, Aggregate::Max};

bool has(Aggregate aggregate, DType type) {
  return !is_complex(type) || aggregate == Aggregate::Sum || aggregate == Aggregate::Prod;
}

// Units and, rarely, 2 and its reciprocal: products of hundreds of them overflow nowhere.
template <class T>
void fill_with_units(Random& random, Tile& tile) {
  for (std::int64_t n = 0; n < tile.shape().element_count(); ++n) {
    const auto drawn = draw(random, 0, 59);
    T unit = drawn % 2 == 0 ? T(1) : T(-1);
    if (drawn == 0) unit = T(2);
    if constexpr (std::is_floating_point_v<T>) {
      if (drawn == 1) unit = T(0.5);
    } else if constexpr (is_complex_type<T>) {
      if (drawn % 3 == 0) unit *= T(0, 1);
    }
    tile.mutable_data<T>()[n] = unit;
  }
}

/// An operand, or a product of several, over labels named by letters; `result` has those that are kept.
RandomEinSum reduction(Random& random, std::vector<std::string_view> operands, std::string_view result,
                       const std::vector<std::int64_t>& extents, Aggregate aggregate, DType type) {
  RandomEinSum sample;
  Labels all;
  for (std::size_t n = 0; n < extents.size(); ++n)
    all.push_back(sample.labels.add(std::string(1, static_cast<char>('a' + n)), extents[n]));
  const auto named = [&](std::string_view letters) {
    Labels labels;
    for (const char letter : letters) labels.push_back(all[static_cast<std::size_t>(letter - 'a')]);
    return labels;
  };
  std::vector<ScalarPtr> factors;
  for (const auto letters : operands) {
    sample.einsum.inputs.push_back(named(letters));
    factors.push_back(ScalarExpression::operand(factors.size()));
    sample.tensors.push_back(random_tile(random, type, Shape(sample.labels.extents(sample.einsum.inputs.back()))));
  }
  sample.einsum.output = named(result);
  for (const auto label : all)
    if (!contains(sample.einsum.output, label)) sample.einsum.aggregated.push_back(label);
  sample.einsum.expression =
      factors.size() == 1 ? factors[0] : ScalarExpression::call(ScalarOp::Multiply, std::move(factors));
  sample.einsum.aggregate = aggregate;
  sample.compute = sample.result = type;
  if (aggregate == Aggregate::Prod)
    dispatch(type, [&](auto t) { fill_with_units<typename decltype(t)::type>(random, sample.tensors[0]); });
  return sample;
}

void expect_reference(const RandomEinSum& sample, const LevelTable& level, Random& random) {
  const auto expected =
      evaluate_reference(sample.einsum, sample.labels, sample.pointers(), sample.compute, sample.result);
  expect_close(run_in_parts(sample, level, random), expected, sample.compute, terms_of(sample), sample.describe());
}

// Kept and aggregated labels first, last, between others, and in turns; results in other orders too.
TEST_P(ReductionTest, AgreesWithReferenceWhereverTheLabelsStand) {
  Random random(31);
  const std::vector<std::string_view> results{"",   "a",  "b",  "c",  "d",   "ab",  "ac",  "ad",  "bc",
                                              "bd", "cd", "ca", "db", "abc", "bcd", "abd", "acd", "dca"};
  for (const auto type : kReducedTypes)
    for (const auto aggregate : kAggregates)
      for (const auto result : results)
        for (const auto& extents : std::vector<std::vector<std::int64_t>>{{5, 4, 3, 70}, {3, 35, 6, 2}, {19, 1, 2, 17}})
          if (has(aggregate, type) && !HasFatalFailure())
            expect_reference(reduction(random, {"abcd"}, result, extents, aggregate, type), level(), random);
}

// Every length of rows and number of them about the vectors' sizes: whole vectors, tails, chains, and what is beside.
TEST_P(ReductionTest, AgreesWithReferenceOnRowsOfEveryLength) {
  Random random(32);
  for (const auto type : kReducedTypes)
    for (const auto aggregate : kAggregates)
      for (const std::int64_t columns : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 130, 300})
        for (const std::int64_t rows : {1, 2, 3, 7, 8, 9, 16, 19, 33})
          for (const auto result : {"a", "b"})
            if (has(aggregate, type) && !HasFatalFailure())
              expect_reference(reduction(random, {"ab"}, result, {rows, columns}, aggregate, type), level(), random);
}

// Beyond the accumulators and terms of one call.
TEST_P(ReductionTest, AgreesWithReferenceOnLongRowsAndManyCells) {
  Random random(33);
  for (const auto type : kReducedTypes)
    for (const auto& extents : std::vector<std::vector<std::int64_t>>{{3, 20000}, {20000, 3}, {600, 40}})
      for (const auto result : {"", "a", "b"})
        if (!HasFatalFailure())
          expect_reference(reduction(random, {"ab"}, result, extents, Aggregate::Sum, type), level(), random);
}

// Rows of pages, which are folded one by one, in several blocks of rows and of cells.
TEST_P(ReductionTest, AgreesWithReferenceOnRowsOfPages) {
  Random random(35);
  for (const auto type : kReducedTypes)
    for (const auto& extents : std::vector<std::vector<std::int64_t>>{{500, 1100}, {70, 9001}}) {
      for (const auto aggregate : kAggregates)
        if (has(aggregate, type) && !HasFatalFailure())
          expect_reference(reduction(random, {"ab"}, "b", extents, aggregate, type), level(), random);
      if (HasFatalFailure()) return;
      expect_reference(reduction(random, {"ab", "ab"}, "b", extents, Aggregate::Sum, type), level(), random);
      expect_reference(reduction(random, {"ab", "a"}, "b", extents, Aggregate::Sum, type), level(), random);
    }
}

TEST_P(ReductionTest, AddsUpProductsAndSquares) {
  Random random(34);
  for (const auto type : kReducedTypes) {
    for (const std::int64_t columns : {1, 5, 16, 67, 1030}) {
      expect_reference(reduction(random, {"ab", "ab"}, "a", {9, columns}, Aggregate::Sum, type), level(), random);
      expect_reference(reduction(random, {"ab", "ab"}, "b", {9, columns}, Aggregate::Sum, type), level(), random);
      expect_reference(reduction(random, {"ab", "b"}, "", {9, columns}, Aggregate::Sum, type), level(), random);
      expect_reference(reduction(random, {"ab", "a"}, "b", {9, columns}, Aggregate::Sum, type), level(), random);
      expect_reference(reduction(random, {"ab", "a"}, "a", {9, columns}, Aggregate::Sum, type), level(), random);
      auto squares = reduction(random, {"ab"}, "a", {9, columns}, Aggregate::Sum, type);
      const auto x = squares.einsum.expression;
      squares.einsum.expression = ScalarExpression::call(ScalarOp::Multiply, {x, x});
      expect_reference(squares, level(), random);
      if (HasFatalFailure()) return;
    }
  }
}

// A row of the table against the scalar definition, value by value, with NaN in every lane and at no other place.
template <class T>
void expect_nan_found(const ElementTable& table, Aggregate aggregate, std::int64_t columns) {
  constexpr std::int64_t kRows = 5;
  std::vector<T> values(static_cast<std::size_t>(kRows * columns));
  std::vector<T> wide(static_cast<std::size_t>(std::max(kRows, columns)) * 2);
  for (std::int64_t place = 0; place < columns; ++place) {
    for (std::size_t n = 0; n < values.size(); ++n) values[n] = static_cast<T>(n % 17) - T(8);
    values[static_cast<std::size_t>(2 * columns + place)] = std::numeric_limits<T>::quiet_NaN();
    table.along[slot_of(aggregate)](wide.data(), {values.data(), columns, 1}, kRows, columns, true);
    for (std::int64_t r = 0; r < kRows; ++r)
      ASSERT_EQ(std::isnan(wide[static_cast<std::size_t>(r)]), r == 2) << columns << " " << place;
    table.down[slot_of(aggregate)](wide.data(), {values.data(), columns, 1}, kRows, columns, true);
    for (std::int64_t c = 0; c < columns; ++c)
      ASSERT_EQ(std::isnan(wide[static_cast<std::size_t>(c)]), c == place) << columns;
    // The values in the accumulators stay.
    for (std::size_t n = 0; n < values.size(); ++n) values[n] = T(1);
    table.down[slot_of(aggregate)](wide.data(), {values.data(), columns, 1}, kRows, columns, false);
    for (std::int64_t c = 0; c < columns; ++c)
      ASSERT_EQ(std::isnan(wide[static_cast<std::size_t>(c)]), c == place) << columns;
  }
}

TEST_P(ReductionTest, ExtremesFindNanInEveryLane) {
  for (const auto aggregate : {Aggregate::Min, Aggregate::Max}) {
    for (const std::int64_t columns : {1, 6, 16, 40, 129, 300}) {
      expect_nan_found<float>(level().of(DType::Float32), aggregate, columns);
      expect_nan_found<double>(level().of(DType::Float64), aggregate, columns);
      if (HasFatalFailure()) return;
    }
  }
}

// One infinite factor for a whole row: lanes behind the row's end, which hold nothing, must not multiply it.
TEST_P(ReductionTest, OneFactorForARowMayBeInfinite) {
  const auto& table = level().of(DType::Float32);
  const std::vector<float> values(40, 2.0F);
  const float factor = std::numeric_limits<float>::infinity();
  for (const std::int64_t columns : {1, 5, 16, 33}) {
    double sum = 0;
    table.multiply_along(&sum, {values.data(), 0, 1}, {&factor, 0, 0}, 1, columns, true);
    EXPECT_EQ(sum, std::numeric_limits<double>::infinity()) << columns;
  }
}

// A value that stands for a whole row counts as often as the row has columns.
TEST_P(ReductionTest, OneValueForARowCountsForEachColumn) {
  const auto& table = level().of(DType::Complex64);
  const std::vector<std::complex<float>> values{{1, 2}, {3, -4}};
  std::vector<std::complex<double>> sums(2);
  table.along[slot_of(Aggregate::Sum)](sums.data(), {values.data(), 1, 0}, 2, 11, true);
  EXPECT_EQ(sums[0], std::complex<double>(11, 22));
  EXPECT_EQ(sums[1], std::complex<double>(33, -44));
  std::vector<std::complex<double>> cells(11);
  table.down[slot_of(Aggregate::Sum)](cells.data(), {values.data(), 1, 0}, 2, 11, true);
  for (const auto& cell : cells) EXPECT_EQ(cell, std::complex<double>(4, -2));
}

}  // namespace
}  // namespace eindb
