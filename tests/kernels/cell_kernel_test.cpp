// Joins of cells against the reference evaluator on expanded tiles.
#include "executor/kernels/cell_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/kernels/tile_operations.hpp"
#include "tensor/reference_evaluator.hpp"
#include "tensor/scalar_types.hpp"
#include "tests/kernels/random_einsum.hpp"
#include "tests/tensor/scalar_builders.hpp"

namespace eindb {
namespace {

using enum ScalarOp;

ScalarPtr third_operand() { return ScalarExpression::operand(2); }
ScalarPtr whole(std::int64_t value) { return ScalarExpression::integer(value); }

// An EinSum by the names of labels, each of one letter, with cells for the operands in capitals of `kinds` ('S' or
// 'D').
struct CellForm {
  std::vector<std::string> inputs;
  std::string kinds;
  std::string output;
  Aggregate aggregate;
  ScalarPtr expression;
};

std::vector<CellForm> cell_forms() {
  using enum Aggregate;
  const auto xy = call(Multiply, {x(), y()});
  const auto xyz = call(Multiply, {x(), y(), third_operand()});
  return {
      // Reductions.
      {{"ij"}, "S", "i", Sum, x()},
      {{"ij"}, "S", "j", Sum, x()},
      {{"ij"}, "S", "", Sum, x()},
      {{"ijk"}, "S", "ik", Sum, x()},
      {{"ijk"}, "S", "kj", Sum, x()},
      {{"ijk"}, "S", "j", Sum, call(Multiply, {x(), whole(-3)})},
      {{"ijkl"}, "S", "lj", Sum, x()},
      {{"i"}, "S", "", Sum, call(Negate, {x()})},
      {{"ij"}, "S", "ji", None, x()},
      {{"ij"}, "S", "jki", None, x()},
      {{"ij"}, "S", "k", Sum, x()},
      // A matrix and a vector, in both directions.
      {{"ij", "j"}, "SD", "i", Sum, xy},
      {{"ij", "i"}, "SD", "j", Sum, xy},
      {{"ij", "j"}, "SS", "i", Sum, xy},
      {{"ij", "j"}, "DS", "i", Sum, xy},
      {{"ij", "i"}, "SD", "ij", Sum, xy},
      {{"ij", ""}, "SD", "i", Sum, xy},
      // Products of matrices.
      {{"ij", "jk"}, "SD", "ik", Sum, xy},
      {{"ij", "jk"}, "SD", "ki", Sum, xy},
      {{"ij", "kj"}, "SD", "ik", Sum, xy},
      {{"ij", "ik"}, "SD", "jk", Sum, xy},
      {{"ij", "jk"}, "DS", "ik", Sum, xy},
      {{"ij", "jk"}, "DS", "ki", Sum, xy},
      {{"ij", "jk"}, "SD", "", Sum, xy},
      {{"ij", "jk"}, "SS", "ik", Sum, xy},
      {{"ij", "jk"}, "SS", "ki", Sum, xy},
      {{"ij", "kj"}, "SS", "ik", Sum, xy},
      {{"ji", "jk"}, "SS", "ik", Sum, xy},
      {{"ij", "jk"}, "SS", "i", Sum, xy},
      {{"bij", "bjk"}, "SS", "bik", Sum, xy},
      {{"bij", "bjk"}, "SD", "bik", Sum, xy},
      {{"ij", "kl"}, "SS", "il", Sum, xy},
      {{"i", "j"}, "SS", "ji", Sum, xy},
      // Three operands.
      {{"ij", "ik", "jk"}, "SDD", "ij", Sum, xyz},
      {{"ij", "ik", "jk"}, "SSS", "", Sum, xyz},
      {{"ij", "jk", "ik"}, "SSS", "i", Sum, xyz},
      {{"ij", "jk", "kl"}, "SSS", "il", Sum, xyz},
      {{"ij", "jk", "kl"}, "SDS", "il", Sum, xyz},
      {{"ijk", "jr", "kr"}, "SDD", "ir", Sum, xyz},
      {{"ijk", "jr", "kr"}, "SDD", "ri", Sum, xyz},
      {{"ijk", "jr", "kr"}, "SDS", "ir", Sum, xyz},
      {{"ijk", "jr", "kr"}, "SDD", "i", Sum, xyz},
      {{"ijk", "kr"}, "SD", "ijr", Sum, xy},
      {{"i", "i", "i"}, "SSS", "", Sum, xyz},
      {{"ir", "jr", "j"}, "DDS", "i", Sum, xyz},
      // Point by point.
      {{"ij", "ij"}, "SS", "ij", Sum, xy},
      {{"ij", "ij"}, "SS", "ij", None, xy},
      {{"ij", "ij"}, "SD", "ij", None, xy},
      {{"ij", "ji"}, "SS", "ji", None, xy},
      {{"ij", "ij"}, "SS", "ij", None, call(Add, {x(), y()})},
      {{"ij", "ji"}, "SS", "ij", None, call(Subtract, {x(), y()})},
      {{"ij", "ij"}, "SS", "i", Sum, call(Subtract, {x(), y()})},
      {{"ij", "ij"}, "SS", "j", Sum, call(Abs, {call(Subtract, {x(), y()})})},
      {{"ij", "ij"}, "SS", "", Sum, call(Abs, {call(Subtract, {x(), y()})})},
      {{"i", "i"}, "SS", "i", None, call(Subtract, {x(), call(Multiply, {y(), y()})})},
      {{"ijk", "ikj"}, "SS", "ijk", None, call(Add, {x(), y()})},
      {{"ijkl", "ijkl"}, "SS", "ijlk", None, call(Subtract, {x(), y()})},
      {{"ijk", "ijk"}, "SS", "k", Sum, call(Add, {x(), y()})},
      {{"ijk", "ijk", "jki"}, "SSS", "kij", None, call(Add, {x(), y(), third_operand()})},
      {{"ij", "ij", "i"}, "SSD", "ij", None, call(Multiply, {call(Add, {x(), y()}), third_operand()})},
      {{"ij", "ij", "jk"}, "SSD", "ik", Sum, call(Multiply, {call(Add, {x(), y()}), third_operand()})},
      {{"ij"}, "S", "ij", None, call(Multiply, {x(), x()})},
      {{"ij"}, "S", "ji", None, call(Multiply, {x(), whole(3)})},
      {{"ijk"}, "S", "kji", None, call(Abs, {x()})},
      {{"ij"}, "S", "ij", None, call(Multiply, {x(), call(Subtract, {x(), whole(2)})})},
      {{"ij"}, "S", "i", Sum, call(Multiply, {x(), x()})},
      {{"ij", "jk"}, "SD", "ik", Sum, call(Multiply, {x(), x(), y()})},
      // Extremes, with the zeros in between.
      {{"ij", "ij"}, "SS", "i", Max, xy},
      {{"ij", "j"}, "SD", "i", Max, xy},
      {{"ij", "i"}, "SD", "j", Min, xy},
      {{"ij", "jk"}, "SS", "ik", Max, xy},
      {{"ij", "jk"}, "SD", "ik", Max, xy},
      {{"ij", "jk"}, "SD", "ki", Min, xy},
      {{"ij", "jk"}, "SD", "", Min, xy},
      {{"ij", "jk"}, "SS", "", Max, call(Abs, {xy})},
      {{"ij", "ik", "jk"}, "SSS", "i", Max, xyz},
      {{"ijk", "jr", "kr"}, "SDD", "ri", Min, xyz},
      {{"ij", "j"}, "SS", "i", Max, call(Negate, {xy})},
  };
}

struct CellSample {
  LabelTable labels;
  EinSum einsum;
  std::vector<DType> types;
  std::vector<bool> of_cells;
  std::vector<Tile> dense;
  DType compute = DType::Int64;

  std::string describe() const {
    return to_string(einsum, "Z", {"X", "Y", "W"}, labels) + " in " + std::string(name_of(compute));
  }
};

// Small whole numbers, most of them zero.
Tile random_cells_tile(Random& random, DType type, const Shape& shape, std::int64_t per_mille) {
  auto tile = Tile::zeros(type, shape);
  dispatch(type, [&](auto t) {
    using T = typename decltype(t)::type;
    for (std::int64_t n = 0; n < shape.element_count(); ++n)
      if (draw(random, 1, 1000) <= per_mille) tile.mutable_data<T>()[n] = convert_value<T>(draw(random, 1, 9) - 5);
  });
  return tile;
}

// Labels have up to 9 indices, or as many as `extents` says for the letters of their names.
CellSample sample_of(Random& random, const CellForm& form, DType type,
                     const std::map<char, std::int64_t>& extents = {}) {
  CellSample sample;
  sample.einsum.expression = form.expression;
  std::string names;
  const auto label_of = [&](char name) {
    if (const auto known = names.find(name); known != std::string::npos) return Label(known);
    names += name;
    if (const auto given = extents.find(name); given != extents.end())
      return sample.labels.add(std::string(1, name), given->second);
    return sample.labels.add(std::string(1, name), draw(random, 0, 25) == 0 ? 0 : draw(random, 1, 9));
  };
  const auto labels_of = [&](const std::string& text) {
    Labels labels;
    for (const auto name : text) labels.push_back(label_of(name));
    return labels;
  };
  for (const auto& input : form.inputs) sample.einsum.inputs.push_back(labels_of(input));
  sample.einsum.output = labels_of(form.output);
  sample.einsum.aggregate = form.aggregate;
  for (const auto& input : sample.einsum.inputs)
    append_distinct(sample.einsum.aggregated, difference(input, sample.einsum.output));
  if (sample.einsum.aggregated.empty() && form.aggregate != Aggregate::None)
    sample.einsum.aggregated.push_back(sample.labels.add("more", draw(random, 1, 3)));
  sample.compute = type;
  const std::vector<std::int64_t> densities{0, 30, 200, 1000};
  for (std::size_t n = 0; n < form.inputs.size(); ++n) {
    const bool is_narrow = type == DType::Float64 && draw(random, 0, 3) == 0;
    sample.types.push_back(is_narrow ? DType::Float32 : type);
    sample.of_cells.push_back(form.kinds[n] == 'S');
    const auto density = sample.of_cells[n] ? densities[static_cast<std::size_t>(draw(random, 0, 3))] : 900;
    sample.dense.push_back(
        random_cells_tile(random, sample.types[n], Shape(sample.labels.extents(sample.einsum.inputs[n])), density));
  }
  sample.einsum.expression = with_types(sample.einsum.expression, sample.types, sample.labels, type);
  return sample;
}

// The part of a tile over ranges of its dimensions.
Tile part_of_tile(const Tile& tile, const std::vector<PartRange>& ranges) {
  std::vector<std::int64_t> extents;
  for (const auto& range : ranges) extents.push_back(range.size);
  auto part = Tile::zeros(tile.dtype(), Shape(extents));
  if (part.shape().element_count() == 0) return part;
  const auto strides = tile.shape().row_major_strides();
  const auto size = size_of(tile.dtype());
  std::vector<std::int64_t> index(extents.size(), 0);
  std::size_t written = 0;
  do {
    std::int64_t from = 0;
    for (std::size_t d = 0; d < index.size(); ++d) from += (ranges[d].begin + index[d]) * strides[d];
    std::copy_n(tile.bytes().data() + static_cast<std::size_t>(from) * size, size,
                part.mutable_bytes().data() + written++ * size);
  } while (next_index(index, extents));
  return part;
}

template <class T>
bool are_nan(T a, T b) {
  return !(a == a) && !(b == b);
}

void expect_equal_tiles(const Tile& actual, const Tile& expected, const std::string& what) {
  ASSERT_EQ(actual.dtype(), expected.dtype()) << what;
  ASSERT_EQ(actual.shape(), expected.shape()) << what;
  dispatch(actual.dtype(), [&](auto t) {
    using T = typename decltype(t)::type;
    for (std::int64_t n = 0; n < expected.shape().element_count(); ++n) {
      if (are_nan(actual.data<T>()[n], expected.data<T>()[n])) continue;
      ASSERT_EQ(actual.data<T>()[n], expected.data<T>()[n]) << what << "\n  element " << n;
    }
  });
}

// Runs a sample with its labels cut into parts, and both kinds of results.
class CellCalls {
 public:
  CellCalls(const CellSample& sample, CellPattern pattern, Random& random)
      : sample_(sample),
        labels_(sample.einsum.labels()),
        kernel_(sample.einsum, sample.labels, sample.types, sample.compute, sample.of_cells, pattern),
        makes_cells_(!sample.einsum.output.empty() &&
                     leaves_zeros(sample.einsum, sample.labels, sample.types, pattern)) {
    for (const auto label : labels_) {
      const auto most = std::max<std::int64_t>(1, std::min<std::int64_t>(3, sample.labels.extent(label)));
      parts_.push_back(draw(random, 0, 1) == 0 ? 1 : draw(random, 1, most));
    }
  }

  void check() {
    std::vector<const Tile*> pointers;
    for (const auto& tile : sample_.dense) pointers.push_back(&tile);
    const auto expected =
        evaluate_reference(sample_.einsum, sample_.labels, pointers, sample_.compute, sample_.compute);
    // Of a result that is cut, the part over each range of its labels.
    std::vector<std::int64_t> key(labels_.size(), 0);
    auto output_parts = parts_;
    for (std::size_t n = 0; n < labels_.size(); ++n)
      if (!contains(sample_.einsum.output, labels_[n])) output_parts[n] = 1;
    do {
      check_part(key, part_of_tile(expected, ranges_of(sample_.einsum.output, key)));
    } while (!::testing::Test::HasFatalFailure() && next_index(key, output_parts));
  }

 private:
  PartRange range_of(std::size_t place, const std::vector<std::int64_t>& key) const {
    return part_range(sample_.labels.extent(labels_[place]), parts_[place], key[place]);
  }
  std::vector<PartRange> ranges_of(const Labels& labels, const std::vector<std::int64_t>& key) const {
    std::vector<PartRange> ranges;
    for (const auto label : labels)
      ranges.push_back(
          range_of(static_cast<std::size_t>(std::find(labels_.begin(), labels_.end(), label) - labels_.begin()), key));
    return ranges;
  }

  void check_part(std::vector<std::int64_t> key, const Tile& expected) {
    auto aggregated_parts = parts_;
    for (std::size_t n = 0; n < labels_.size(); ++n)
      if (contains(sample_.einsum.output, labels_[n])) aggregated_parts[n] = 1;
    auto sums = Tile::uninitialized(sample_.compute, expected.shape());
    auto sums_of_cells = identity_tile(sample_.einsum.aggregate, sample_.compute, expected.shape());
    std::vector<std::int64_t> inner(labels_.size(), 0);
    bool first = true;
    do {
      auto at = key;
      for (std::size_t n = 0; n < at.size(); ++n) at[n] += inner[n];
      std::vector<Tile> tiles;
      std::vector<const Tile*> operands;
      for (std::size_t n = 0; n < sample_.dense.size(); ++n) {
        auto part = part_of_tile(sample_.dense[n], ranges_of(sample_.einsum.inputs[n], at));
        if (sample_.of_cells[n])
          part = Tile::of_cells(
              std::make_shared<const CellBlock>(CellBlock::of_dense(part.dtype(), part.shape(), part.bytes())));
        tiles.push_back(std::move(part));
      }
      for (const auto& tile : tiles) operands.push_back(&tile);
      const auto ranges = ranges_of(labels_, at);
      kernel_.run(operands, ranges, sums, first);
      EXPECT_GT(kernel_.plan(operands, ranges, false).workspace_bytes, 0);
      if (makes_cells_) {
        const auto cells =
            expanded(Tile::of_cells(std::make_shared<const CellBlock>(kernel_.make_cells(operands, ranges))));
        if (sample_.einsum.aggregate == Aggregate::None) sums_of_cells = convert(cells, sample_.compute);
        else combine(sample_.einsum.aggregate, sums_of_cells, cells);
      }
      first = false;
    } while (next_index(inner, aggregated_parts));
    expect_equal_tiles(sums, expected, sample_.describe());
    if (makes_cells_) expect_equal_tiles(sums_of_cells, expected, sample_.describe() + " as cells");
  }

  const CellSample& sample_;
  Labels labels_;
  CellKernel kernel_;
  bool makes_cells_;
  std::vector<std::int64_t> parts_;
};

void check_form(Random& random, const CellForm& form, DType type, const std::map<char, std::int64_t>& extents = {}) {
  const auto sample = sample_of(random, form, type, extents);
  const std::vector<OperandFacts> finite(sample.types.size(), {.magnitude = 8});
  const auto pattern = cell_pattern(sample.einsum, sample.types, sample.of_cells, finite, Zero::EitherSign);
  ASSERT_TRUE(pattern) << sample.describe();
  CellCalls(sample, *pattern, random).check();
}

TEST(CellKernel, AgreesWithReference) {
  Random random(31);
  for (const auto type : {DType::Int64, DType::Float32, DType::Float64, DType::Complex64, DType::Complex128})
    for (const auto& form : cell_forms())
      for (int n = 0; n < 12 && !HasFatalFailure(); ++n) check_form(random, form, type);
}

// Runs and panels that are longer than one step of their loops, and nodes that are far from each other.
TEST(CellKernel, AgreesOnLongRuns) {
  using enum Aggregate;
  const auto xy = call(Multiply, {x(), y()});
  const auto xyz = call(Multiply, {x(), y(), third_operand()});
  const std::map<char, std::int64_t> wide{{'i', 40}, {'j', 30}, {'k', 290}};
  const std::map<char, std::int64_t> deep{{'i', 70}, {'j', 300}, {'k', 25}};
  const std::map<char, std::int64_t> four{{'i', 8}, {'j', 9}, {'k', 10}, {'r', 290}};
  const std::vector<std::pair<CellForm, std::map<char, std::int64_t>>> forms{
      {{{"ij", "jk"}, "SD", "ik", Sum, xy}, wide},
      {{{"ij", "jk"}, "SD", "ki", Sum, xy}, wide},
      {{{"ij", "kj"}, "SD", "ik", Sum, xy}, wide},
      {{{"ij", "jk"}, "DS", "ik", Sum, xy}, deep},
      {{{"ij", "jk"}, "DS", "ki", Sum, xy}, deep},
      {{{"ij", "jk"}, "SS", "ik", Sum, xy}, wide},
      {{{"ij", "kj"}, "SS", "ik", Sum, xy}, deep},
      {{{"ij", "ik", "jk"}, "SDD", "ij", Sum, xyz}, wide},
      {{{"ij", "ik", "kj"}, "SDD", "ij", Sum, xyz}, wide},
      {{{"ij", "jk", "ik"}, "SSS", "", Sum, xyz}, deep},
      {{{"ij", "jk", "ik"}, "SSS", "", Sum, xyz}, wide},
      {{{"ij", "jk", "ik"}, "SSS", "ij", Sum, xyz}, wide},
      {{{"ij", "jk", "ik"}, "SSS", "i", Sum, xyz}, wide},
      {{{"ij", "jk", "ki"}, "SSS", "", Sum, xyz}, deep},
      {{{"ij", "j"}, "SD", "i", Sum, xy}, deep},
      {{{"ij", "j"}, "SD", "", Sum, xy}, deep},
      {{{"ijk", "jr", "kr"}, "SDD", "ir", Sum, xyz}, four},
      {{{"ijk", "jr", "kr"}, "SDD", "ri", Sum, xyz}, four},
      {{{"ijk", "jr", "kr"}, "SDD", "i", Sum, xyz}, four},
      {{{"jk", "jk"}, "SS", "kj", None, call(Add, {x(), y()})}, wide},
      {{{"jk", "jk"}, "SS", "j", Sum, call(Abs, {call(Subtract, {x(), y()})})}, wide},
      {{{"jk"}, "S", "j", Max, call(Negate, {x()})}, wide},
  };
  Random random(34);
  for (const auto& [form, extents] : forms)
    for (const auto type : {DType::Int64, DType::Float64, DType::Complex64})
      for (int n = 0; n < 2 && !HasFatalFailure(); ++n)
        if (form.aggregate != Max || !is_complex(type)) check_form(random, form, type, extents);
}

TEST(CellKernel, AggregatesTheRestOnce) {
  using enum Aggregate;
  Random random(32);
  const std::vector<CellForm> forms{
      {{"ij"}, "S", "i", Max, x()},
      {{"ij"}, "S", "j", Min, x()},
      {{"ij"}, "S", "", Max, call(Negate, {x()})},
      {{"ijk"}, "S", "ki", Min, call(Add, {x(), whole(2)})},
      {{"ij"}, "S", "i", Sum, call(Equal, {x(), whole(0)})},
      {{"ij"}, "S", "", Sum, call(Multiply, {call(Subtract, {x(), whole(1)}), call(Subtract, {x(), whole(1)})})},
      {{"ij"}, "S", "i", Prod, x()},
      {{"ij"}, "S", "i", Prod, call(NotEqual, {x(), whole(2)})},
  };
  for (const auto type : {DType::Int64, DType::Float32, DType::Float64})
    for (const auto& form : forms)
      for (int n = 0; n < 30 && !HasFatalFailure(); ++n) check_form(random, form, type);
}

// Replaces what is not zero.
void take_special_values(Random& random, Tile& tile) {
  dispatch(tile.dtype(), [&](auto t) {
    using T = typename decltype(t)::type;
    const std::vector<double> values{-3, -1, 2, -0.0, INFINITY, -INFINITY, NAN};
    const auto most = draw(random, 0, 3) == 0 ? 6 : 5;
    for (std::int64_t n = 0; n < tile.shape().element_count(); ++n)
      if (tile.data<T>()[n] != T(0))
        tile.mutable_data<T>()[n] = convert_value<T>(values[static_cast<std::size_t>(draw(random, 0, most))]);
  });
}

TEST(CellKernel, TakesSpecialValues) {
  using enum Aggregate;
  const std::map<char, std::int64_t> extents{{'i', 6}, {'j', 70}};
  const std::vector<CellForm> forms{
      {{"ij"}, "S", "i", Max, x()},
      {{"ij"}, "S", "j", Max, x()},
      {{"ij"}, "S", "i", Min, call(Negate, {x()})},
      {{"ji"}, "S", "i", Min, x()},
      {{"ij"}, "S", "", Max, x()},
      {{"ij", "ij"}, "SS", "ij", None, call(Add, {x(), y()})},
      {{"ij", "ji"}, "SS", "ij", None, call(Subtract, {x(), y()})},
      {{"ij", "ij"}, "SS", "ij", None, call(Least, {x(), y()})},
      {{"ij", "ij"}, "SS", "ji", None, call(Greatest, {x(), y()})},
  };
  Random random(35);
  for (const auto& form : forms) {
    for (const auto type : {DType::Float32, DType::Float64}) {
      for (int n = 0; n < 12 && !HasFatalFailure(); ++n) {
        auto sample = sample_of(random, form, type, extents);
        for (auto& tile : sample.dense) take_special_values(random, tile);
        const std::vector<OperandFacts> unbounded(sample.types.size(), {.magnitude = kUnbounded});
        const auto pattern = cell_pattern(sample.einsum, sample.types, sample.of_cells, unbounded);
        ASSERT_TRUE(pattern) << sample.describe();
        CellCalls(sample, *pattern, random).check();
      }
    }
  }
}

// The sign of a zero is kept where nothing else is aggregated with it.
TEST(CellKernel, KeepsSignsOfZeros) {
  LabelTable labels;
  const auto i = labels.add("i", 2);
  const auto j = labels.add("j", 20);
  std::vector<double> values(40, -0.0);
  std::fill(values.begin() + 20, values.end(), -1.0);
  values[39] = 0;
  const auto tile = Tile::of_cells(std::make_shared<const CellBlock>(
      CellBlock::of_dense(DType::Float64, Shape({2, 20}), std::as_bytes(std::span(values)))));
  const std::vector<PartRange> ranges{{0, 2}, {0, 20}};
  const CellKernel greatest(
      {.inputs = {{i, j}}, .output = {i}, .aggregated = {j}, .expression = x(), .aggregate = Aggregate::Max}, labels,
      {DType::Float64}, DType::Float64, {true}, CellPattern::WithRest);
  const std::vector<const Tile*> one{&tile};
  auto result = Tile::uninitialized(DType::Float64, Shape({2}));
  greatest.run(one, ranges, result, true);
  EXPECT_TRUE(result.data<double>()[0] == 0 && std::signbit(result.data<double>()[0]));
  EXPECT_TRUE(result.data<double>()[1] == 0 && !std::signbit(result.data<double>()[1]));
  const auto cells = greatest.make_cells(one, ranges);
  EXPECT_EQ(cells.numbers(), std::vector<std::int64_t>{0});

  const auto empty =
      Tile::of_cells(std::make_shared<const CellBlock>(CellBlock::of_numbers(DType::Float64, Shape({2, 20}), {}, {})));
  for (const auto op : {Add, Subtract}) {
    const CellKernel both(
        {.inputs = {{i, j}, {i, j}}, .output = {i, j}, .aggregated = {}, .expression = call(op, {x(), y()})}, labels,
        {DType::Float64, DType::Float64}, DType::Float64, {true, true}, CellPattern::Union);
    EXPECT_EQ(both.make_cells(std::vector<const Tile*>{&tile, &empty}, ranges).count(), op == Add ? 19 : 39);
    EXPECT_EQ(both.make_cells(std::vector<const Tile*>{&empty, &tile}, ranges).count(), 19);
    EXPECT_EQ(both.make_cells(std::vector<const Tile*>{&empty, &empty}, ranges).count(), 0);
  }
}

TEST(CellKernel, TakesLabelValuesAndRandomNumbers) {
  Random random(33);
  for (int n = 0; n < 60 && !HasFatalFailure(); ++n) {
    auto sample =
        sample_of(random, {{"ij", "jk"}, "SD", "ik", Aggregate::Sum, call(Multiply, {x(), y()})}, DType::Float64);
    const auto i = sample.einsum.inputs[0][0];
    const auto j = sample.einsum.inputs[0][1];
    const auto drawn = ScalarExpression::random(ScalarExpression::Kind::Uniform, 7, {j, i});
    const auto numbers =
        call(Add, {call(Multiply, {ScalarExpression::label_index(i), whole(3)}), ScalarExpression::label_index(j),
                   call(Less, {drawn, ScalarExpression::real(0.5)})});
    sample.einsum.expression =
        with_types(call(Multiply, {x(), y(), numbers}), sample.types, sample.labels, DType::Float64);
    CellCalls(sample, CellPattern::Intersection, random).check();
  }
}

// A matrix of 2 billion rows and columns with cells on three diagonals, in rows that are far from each other.
CellBlock huge_matrix(std::int64_t count) {
  constexpr std::int64_t kExtent = 2'000'000'000;
  std::vector<std::int64_t> cells;
  std::vector<std::byte> values;
  for (std::int64_t n = 0; n < count; ++n) {
    const auto row = n * 1'000'003;
    for (const auto column : {row, row + 1'000'003}) {
      cells.push_back(row * kExtent + column);
      const double value = static_cast<double>(n + 1);
      const auto* bytes = reinterpret_cast<const std::byte*>(&value);
      values.insert(values.end(), bytes, bytes + sizeof value);
    }
  }
  return CellBlock::of_numbers(DType::Float64, Shape({kExtent, kExtent}), cells, std::move(values));
}

TEST(CellKernel, JoinsWhatCouldNotBeDense) {
  constexpr std::int64_t kExtent = 2'000'000'000;
  constexpr std::int64_t kCount = 1000;
  LabelTable labels;
  const auto i = labels.add("i", kExtent);
  const auto j = labels.add("j", kExtent);
  const auto k = labels.add("k", kExtent);
  const auto tile = Tile::of_cells(std::make_shared<const CellBlock>(huge_matrix(kCount)));
  const std::vector<PartRange> two{{0, kExtent}, {0, kExtent}};
  const std::vector<PartRange> three{{0, kExtent}, {0, kExtent}, {0, kExtent}};
  const std::vector<const Tile*> one_operand{&tile};
  const std::vector<const Tile*> operands{&tile, &tile};
  const std::vector<DType> types{DType::Float64, DType::Float64};

  const CellKernel total(
      {.inputs = {{i, j}}, .output = {}, .aggregated = {i, j}, .expression = x(), .aggregate = Aggregate::Sum}, labels,
      {DType::Float64}, DType::Float64, {true}, CellPattern::Intersection);
  auto sum = Tile::uninitialized(DType::Float64, Shape());
  total.run(one_operand, two, sum, true);
  EXPECT_EQ(*sum.data<double>(), static_cast<double>(kCount * (kCount + 1)));

  for (const auto& by : {i, j}) {
    const CellKernel rows({.inputs = {{i, j}},
                           .output = {by},
                           .aggregated = {by == i ? j : i},
                           .expression = x(),
                           .aggregate = Aggregate::Sum},
                          labels, {DType::Float64}, DType::Float64, {true}, CellPattern::Intersection);
    const auto cells = rows.make_cells(one_operand, two);
    EXPECT_EQ(cells.count(), by == i ? kCount : kCount + 1);
    EXPECT_EQ(cells.trie().values_as<double>()[1], by == i ? 4.0 : 3.0);
  }

  // Row n of the product has n * (n, 2 n + 1, n + 1) on three diagonals.
  const CellKernel product({.inputs = {{i, j}, {j, k}},
                            .output = {i, k},
                            .aggregated = {j},
                            .expression = call(Multiply, {x(), y()}),
                            .aggregate = Aggregate::Sum},
                           labels, types, DType::Float64, {true, true}, CellPattern::Intersection);
  const auto cells = product.make_cells(operands, three);
  EXPECT_EQ(cells.count(), 3 * kCount - 1);
  EXPECT_EQ(cells.trie().values_as<double>()[3], 4.0);
  EXPECT_EQ(cells.trie().values_as<double>()[4], 10.0);
  EXPECT_EQ(cells.trie().values_as<double>()[5], 6.0);

  const CellKernel difference_of_cells(
      {.inputs = {{i, j}, {i, j}}, .output = {i, j}, .aggregated = {}, .expression = call(Subtract, {x(), y()})},
      labels, types, DType::Float64, {true, true}, CellPattern::Union);
  EXPECT_EQ(difference_of_cells.make_cells(operands, two).count(), 0);

  const CellKernel greatest(
      {.inputs = {{i, j}}, .output = {j}, .aggregated = {i}, .expression = x(), .aggregate = Aggregate::Max}, labels,
      {DType::Float64}, DType::Float64, {true}, CellPattern::WithRest);
  EXPECT_EQ(greatest.make_cells(one_operand, two).count(), kCount + 1);
}

TEST(CellForm, IsWhatZerosDoNotChange) {
  LabelTable labels;
  const auto i = labels.add("i", 5);
  const auto j = labels.add("j", 5);
  const auto k = labels.add("k", 5);
  const std::vector<DType> types{DType::Float64, DType::Float64};
  const auto pattern = [&](std::vector<Labels> inputs, Aggregate aggregate, const ScalarPtr& expression,
                           std::vector<bool> of_cells, std::vector<int> magnitudes) {
    EinSum einsum{
        .inputs = std::move(inputs), .output = {i}, .aggregated = {}, .expression = expression, .aggregate = aggregate};
    const auto used = std::span(types).first(einsum.inputs.size());
    einsum.expression = with_types(expression, used, labels, DType::Float64);
    for (const auto& input : einsum.inputs) append_distinct(einsum.aggregated, difference(input, einsum.output));
    if (aggregate == Aggregate::None) einsum.output = einsum.labels();
    if (aggregate == Aggregate::None) einsum.aggregated.clear();
    std::vector<OperandFacts> facts;
    for (const auto magnitude : magnitudes) facts.push_back({.magnitude = magnitude});
    return cell_pattern(einsum, used, of_cells, facts);
  };
  using enum Aggregate;
  const auto xy = call(Multiply, {x(), y()});
  EXPECT_EQ(pattern({{i, j}, {j, k}}, Sum, xy, {true, true}, {0, 0}), CellPattern::Intersection);
  EXPECT_EQ(pattern({{i, j}, {j, k}}, Sum, xy, {true, false}, {0, 0}), CellPattern::Intersection);
  EXPECT_FALSE(pattern({{i, j}, {j, k}}, Sum, xy, {true, false}, {0, kUnbounded})) << "0 times infinity";
  EXPECT_EQ(pattern({{i, j}, {i, j}}, None, call(Subtract, {x(), y()}), {true, true}, {0, 0}), CellPattern::Union);
  EXPECT_FALSE(pattern({{i, j}, {j}}, None, call(Subtract, {x(), y()}), {true, true}, {0, 0})) << "other labels";
  EXPECT_FALSE(pattern({{i, j}, {i, j}}, None, call(Subtract, {x(), y()}), {true, false}, {0, 0}));
  EXPECT_FALSE(pattern({{i, j}, {i, j}}, None, xy, {true, false}, {0, 0})) << "-0 where y is negative";
  EXPECT_FALSE(pattern({{i, j}}, None, call(Exp, {x()}), {true}, {0}));
  EXPECT_FALSE(pattern({{i, j}}, None, call(Add, {x(), whole(1)}), {true}, {0}));
  EXPECT_FALSE(pattern({{i, j}, {i, j}}, None, call(Least, {x(), y()}), {true, false}, {0, 0}));
  EXPECT_EQ(pattern({{i, j}, {i, j}}, None, call(Least, {x(), y()}), {true, true}, {0, 0}), CellPattern::Union);
  EXPECT_EQ(pattern({{i, j}}, Max, x(), {true}, {0}), CellPattern::WithRest);
  EXPECT_EQ(pattern({{i, j}}, Sum, call(Exp, {x()}), {true}, {0}), CellPattern::WithRest);
  EXPECT_FALSE(pattern({{i, j}}, Prod, call(Add, {x(), whole(2)}), {true}, {0})) << "a power of 2";
  EXPECT_FALSE(pattern({{i, j}}, LogSumExp, x(), {true}, {0}));
  EXPECT_EQ(pattern({{i, i}}, None, x(), {true}, {0}), CellPattern::Intersection) << "a diagonal alone";
  EXPECT_FALSE(pattern({{i, i}, {i}}, Sum, xy, {true, false}, {0, 0})) << "a diagonal in a product";
  EXPECT_FALSE(pattern({{i, j}}, Sum, x(), {false}, {0})) << "nothing of cells";
  EXPECT_FALSE(pattern({{i, j}}, Max, call(Multiply, {x(), ScalarExpression::label_index(i)}), {true}, {0}) ==
               CellPattern::Intersection);
}

}  // namespace
}  // namespace eindb
