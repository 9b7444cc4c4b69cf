// Accesses at computed indices against the reference evaluator, and what becomes of indices out of bounds.
#include "executor/kernels/access_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "executor/kernels/cell_kernel.hpp"
#include "executor/kernels/fused_kernel.hpp"
#include "executor/kernels/kernel.hpp"
#include "tensor/cell_move.hpp"
#include "tensor/reference_evaluator.hpp"
#include "tensor/scalar_types.hpp"
#include "tests/kernels/random_einsum.hpp"
#include "tests/tensor/scalar_builders.hpp"

namespace eindb {
namespace {

using enum ScalarOp;

ScalarPtr number(std::int64_t value) { return ScalarExpression::integer(value); }
ScalarPtr index_of(Label label) { return ScalarExpression::label_index(label); }

Labels some_of(const Labels& labels, Random& random) {
  Labels out;
  for (const auto label : labels)
    if (draw(random, 0, 2) > 0) out.push_back(label);
  std::shuffle(out.begin(), out.end(), random);
  return out;
}

// An affine function of some labels, which may repeat.
ScalarPtr random_affine(const Labels& labels, Random& random) {
  std::vector<ScalarPtr> terms{number(draw(random, -3, 5))};
  for (const auto label : some_of(labels, random)) {
    const auto factor = draw(random, -2, 3);
    terms.push_back(factor == 1 ? index_of(label) : call(Multiply, {index_of(label), number(factor)}));
  }
  return terms.size() == 1 ? terms.front() : call(Add, std::move(terms));
}

// Labels that are free or determined, affine indices and those of operands, reads and scatters.
RandomEinSum random_access(Random& random, DType type) {
  RandomEinSum sample;
  Labels free;
  Labels determined;
  const std::string names = "ijkl";
  const auto free_count = draw(random, 1, 4);
  // Rows of few labels may be long: some elements of an index operand are looked at together.
  for (auto n = free_count; n-- > 0;)
    free.push_back(sample.labels.add(names.substr(free.size(), 1), draw(random, 1, free_count < 3 ? 30 : 6)));
  for (std::int64_t n = draw(random, 1, 2); n-- > 0;)
    determined.push_back(sample.labels.add("a" + std::to_string(n), draw(random, 1, 7)));

  auto source = some_of(free, random);
  source.insert(source.end(), determined.begin(), determined.end());
  std::shuffle(source.begin(), source.end(), random);
  sample.einsum.inputs = {source};
  sample.tensors.push_back(random_tile(random, type, Shape(sample.labels.extents(source))));
  ScalarPtr condition;
  std::size_t packed = 0;  // an operand that holds several indices of 4 bits, from the lowest on
  std::int64_t shift = 0;
  for (const auto label : determined) {
    auto index = random_affine(free, random);
    const auto kind = draw(random, 0, 5);
    if (kind == 0 && packed > 0) {
      shift += 4;
      index = call(BitAnd, {call(ShiftRight, {ScalarExpression::operand(packed), number(shift)}), number(15)});
    } else if (kind < 2) {
      const auto over = some_of(free, random);
      index = ScalarExpression::operand(sample.einsum.inputs.size());
      sample.einsum.inputs.push_back(over);
      auto& tile = sample.tensors.emplace_back(Tile::uninitialized(DType::Int64, Shape(sample.labels.extents(over))));
      for (std::int64_t e = 0; e < tile.shape().element_count(); ++e)
        tile.mutable_data<std::int64_t>()[e] = draw(random, -2, kind == 0 ? 1 << 12 : 8);
      if (kind == 0) {
        packed = sample.einsum.inputs.size() - 1;
        shift = 0;
        index = call(BitAnd, {index, number(15)});
      }
    }
    auto equation =
        draw(random, 0, 1) == 0 ? call(Equal, {index_of(label), index}) : call(Equal, {index, index_of(label)});
    condition = condition == nullptr ? equation : call(And, {condition, equation});
  }
  const bool scatters = draw(random, 0, 2) == 0;
  for (const auto label : determined)
    (scatters && draw(random, 0, 2) > 0 ? sample.einsum.output : sample.einsum.aggregated).push_back(label);
  for (const auto label : free)
    (draw(random, 0, 3) > 0 ? sample.einsum.output : sample.einsum.aggregated).push_back(label);
  if (sample.einsum.aggregated.empty()) std::swap(sample.einsum.aggregated, sample.einsum.output);
  std::shuffle(sample.einsum.output.begin(), sample.einsum.output.end(), random);
  sample.einsum.aggregate = Aggregate::Sum;
  sample.einsum.expression = call(Case, {condition, ScalarExpression::operand(0), number(0)});
  sample.compute = sample.result = type;
  sample.einsum.expression = with_types(sample.einsum.expression, sample.types(), sample.labels, type);
  return sample;
}

TEST(AccessKernel, AgreesWithReference) {
  Random random(26);
  std::set<std::string> kinds;
  int of_rows = 0;
  for (const auto type : {DType::Float32, DType::Float64, DType::Int64, DType::Complex64, DType::Complex128}) {
    for (int n = 0; n < 400 && !HasFatalFailure(); ++n) {
      const auto sample = random_access(random, type);
      ASSERT_TRUE(access_form(sample.einsum)) << sample.describe();
      const Kernel kernel(sample.einsum, sample.labels, sample.types(), type, type);
      kinds.insert(kernel.describe());
      of_rows += kernel.row_gather() != nullptr ? 1 : 0;
      const auto expected =
          evaluate_reference(sample.einsum, sample.labels, sample.pointers(), sample.compute, sample.result);
      expect_close(run_in_parts(sample, preferred_level_table(), random), expected, sample.compute, terms_of(sample),
                   sample.describe());
    }
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"gather", "scatter", "strided copy", "strided sum"}));
  EXPECT_GT(of_rows, 100);
}

// The cells of `tile`, which lies over all labels of the head, in the given ranges.
Tile part_of(const Tile& tile, std::span<const PartRange> ranges) {
  std::vector<std::int64_t> extents;
  for (const auto& range : ranges) extents.push_back(range.size);
  auto part = Tile::uninitialized(tile.dtype(), Shape(extents));
  const auto from = tile.shape().row_major_strides();
  const auto to = part.shape().row_major_strides();
  const auto size = static_cast<std::int64_t>(size_of(tile.dtype()));
  for (std::int64_t e = 0; e < part.shape().element_count(); ++e) {
    std::int64_t source = 0;
    for (std::size_t d = 0; d < ranges.size(); ++d) source += (ranges[d].begin + e / to[d] % extents[d]) * from[d];
    std::copy_n(tile.bytes().begin() + source * size, size, part.mutable_bytes().begin() + e * size);
  }
  return part;
}

// A chain that reads a window and takes twice its cells, in a part of the labels that the operand lacks. Windows are
// looked through, with and without zeros around the operand.
TEST(WindowKernel, AgreesWithReference) {
  Random random(2026);
  std::set<std::string> kinds;
  int windows = 0;
  for (int n = 0; n < 6000 && !HasFatalFailure(); ++n) {
    const auto type = n % 2 == 0 ? DType::Float32 : DType::Complex128;
    const auto sample = random_access(random, type);
    const auto& head = sample.einsum.output;
    if (head.empty() || !window_form(sample.einsum, sample.labels)) continue;
    ++windows;
    const std::vector types{type};
    const EinSum twice{
        .inputs = {head},
        .output = head,
        .aggregated = {},
        .expression = with_types(call(Multiply, {ScalarExpression::operand(0), number(2)}), types, sample.labels, type),
        .aggregate = Aggregate::None};
    const auto all = sample.einsum.labels();
    const FusedKernel chain({{sample.einsum, {0}, type}, {twice, {1}, type}}, all, head, {sample.einsum.inputs[0]},
                            types, sample.labels);
    std::vector<PartRange> ranges;
    std::vector<PartRange> of_head;
    std::vector<std::int64_t> sizes;
    for (const auto label : all) {
      const auto extent = sample.labels.extent(label);
      const bool may_cut = contains(head, label) && !contains(sample.einsum.inputs[0], label);
      const auto begin = may_cut ? draw(random, 0, extent - 1) : 0;
      ranges.push_back({begin, may_cut ? draw(random, 1, extent - begin) : extent});
      sizes.push_back(ranges.back().size);
    }
    for (const auto label : head)
      of_head.push_back(ranges[static_cast<std::size_t>(std::find(all.begin(), all.end(), label) - all.begin())]);
    kinds.insert(chain.describe(0, sizes));
    const auto whole = evaluate_reference(sample.einsum, sample.labels, sample.pointers(), type, type);
    const auto expected = part_of(whole, of_head);
    const Kernel doubled(twice, sample.labels, types, type, type);
    auto result = Tile::uninitialized(type, expected.shape());
    chain.run(sample.pointers(), ranges, result);
    auto wanted = Tile::uninitialized(type, expected.shape());
    const std::vector<const Tile*> operands{&expected};
    doubled.run(operands, of_head, wanted, true);
    expect_close(result, wanted, type, 1, sample.describe());
  }
  EXPECT_GT(windows, 200);
  EXPECT_EQ(kinds, (std::set<std::string>{"read between zeros", "read in place"}));
}

// Cells find the places that read them, as a result of cells and added to dense values, where accesses can be turned
// round.
TEST(CellMover, AgreesWithReference) {
  Random random(1129);
  std::set<std::string> kinds;
  int moves = 0;
  for (int n = 0; n < 6000 && !HasFatalFailure(); ++n) {
    const auto type = n % 2 == 0 ? DType::Float64 : DType::Int64;
    auto sample = random_access(random, type);
    std::vector<bool> of_cells(sample.einsum.inputs.size(), false);
    of_cells.front() = true;
    if (!cell_move(sample.einsum, of_cells)) continue;
    if (DistinctLabels(sample.einsum.inputs[0]).labels().size() < sample.einsum.inputs[0].size()) continue;
    ++moves;
    auto& source = sample.tensors.front();
    dispatch(type, [&](auto t) {
      using T = typename decltype(t)::type;
      for (std::int64_t e = 0; e < source.shape().element_count(); ++e)
        if (draw(random, 0, 2) > 0) source.template mutable_data<T>()[e] = T{0};
    });
    const auto expected = evaluate_reference(sample.einsum, sample.labels, sample.pointers(), type, type);
    const auto cells =
        Tile::of_cells(std::make_shared<const CellBlock>(CellBlock::of_dense(type, source.shape(), source.bytes())));
    auto operands = sample.pointers();
    operands.front() = &cells;
    const auto pattern =
        cell_pattern(sample.einsum, sample.types(), of_cells, harmless_facts(of_cells.size()), Zero::EitherSign);
    ASSERT_EQ(pattern, CellPattern::Intersection) << sample.describe();
    const CellKernel kernel(sample.einsum, sample.labels, sample.types(), type, of_cells, *pattern);
    kinds.insert(kernel.describe());
    std::vector<PartRange> ranges;
    for (const auto label : sample.einsum.labels()) ranges.push_back({0, sample.labels.extent(label)});
    auto made = Tile::zeros(type, expected.shape());
    kernel.make_cells(operands, ranges).expand(made.mutable_bytes());
    expect_close(made, expected, type, 1, sample.describe());
    auto added = Tile::uninitialized(type, expected.shape());
    kernel.run(operands, ranges, added, true);
    expect_close(added, expected, type, 1, sample.describe());
  }
  EXPECT_GT(moves, 200);
  EXPECT_EQ(kinds, (std::set<std::string>{"cells of 1 operand: gathered", "cells of 1 operand: moved"}));
}

// The form of Z[i,j] = SUM[a](CASE WHEN condition THEN X[a,j] ELSE 0 END) with other labels, if there is one.
class AccessForms : public testing::Test {
 protected:
  std::optional<AccessForm> form(ScalarPtr condition, ScalarPtr otherwise = number(0)) const {
    return access_form({.inputs = {{a_, j_}, {i_}},
                        .output = {i_, j_},
                        .aggregated = {a_},
                        .expression = call(Case, {std::move(condition), x(), std::move(otherwise)}),
                        .aggregate = Aggregate::Sum});
  }

  LabelTable labels_;
  Label i_ = labels_.add("i", 5);
  Label j_ = labels_.add("j", 5);
  Label a_ = labels_.add("a", 9);
};

TEST_F(AccessForms, AreEquationsForLabels) {
  const auto index = call(Add, {call(Multiply, {number(2), index_of(i_)}), number(1)});
  EXPECT_FALSE(form(call(Equal, {index_of(a_), index}))) << "an operand that is neither read nor an index";
  const auto gather = form(call(Equal, {y(), index_of(a_)}));
  ASSERT_TRUE(gather);
  EXPECT_EQ(gather->source, 0U);
  EXPECT_EQ(gather->determined.front().operand, 1U);
  EXPECT_TRUE(gather->gathers());
  EXPECT_TRUE(gather->determines(a_));
  EXPECT_FALSE(gather->determines(i_));

  const auto both = form(call(
      And, {call(Equal, {y(), index_of(a_)}), call(Equal, {index_of(j_), call(Subtract, {index_of(i_), number(1)})})}));
  ASSERT_TRUE(both);
  ASSERT_EQ(both->determined.size(), 2U);
  EXPECT_EQ(both->determined[1].offset, -1);
  const std::vector<PartRange> ranges{{0, 9}, {0, 5}, {2, 3}};
  EXPECT_EQ(both->determined[1].bounds({a_, j_, i_}, ranges), std::pair(std::int64_t{1}, std::int64_t{3}));
}

TEST_F(AccessForms, AreNothingElse) {
  const auto gather = call(Equal, {y(), index_of(a_)});
  EXPECT_TRUE(form(gather));
  EXPECT_FALSE(form(gather, number(1))) << "cells outside count";
  EXPECT_FALSE(form(call(LessEqual, {index_of(a_), y()})));
  EXPECT_FALSE(form(call(Or, {gather, gather})));
  EXPECT_FALSE(form(call(And, {gather, gather}))) << "two equations for one label";
  EXPECT_FALSE(form(call(Equal, {index_of(a_), call(Multiply, {index_of(i_), index_of(j_)})}))) << "not affine";
  EXPECT_FALSE(form(call(Equal, {index_of(a_), x()}))) << "the operand that is read has no indices";
  EXPECT_FALSE(form(call(And, {gather, call(Equal, {index_of(i_), index_of(j_)})}))) << "the index depends on i";
}

// X has 4 elements; indices that are marked as out of bounds are an error with the place of the index.
TEST(AccessKernel, IndicesOutOfBoundsAreErrors) {
  LabelTable labels;
  const auto a = labels.add("X.1", 4);
  const auto b = labels.add("b", 3);
  const EinSum einsum{.inputs = {{a}, {b}},
                      .output = {b},
                      .aggregated = {a},
                      .expression = call(Case, {call(Equal, {index_of(a), y()}), x(), number(0)}),
                      .aggregate = Aggregate::Sum};
  const AccessKernel kernel(*access_form(einsum), einsum, labels, DType::Float64);
  auto values = Tile::uninitialized(DType::Float64, Shape({4}));
  for (int n = 0; n < 4; ++n) values.mutable_data<double>()[n] = n;
  auto indices = Tile::uninitialized(DType::Int64, Shape({3}));
  auto* index = indices.mutable_data<std::int64_t>();
  auto result = Tile::uninitialized(DType::Float64, Shape({3}));
  const std::vector<PartRange> ranges{{0, 4}, {6, 3}};
  const auto run = [&] {
    const std::vector<LabelView> views{view_of({a, b}, {a}, std::as_const(values)),
                                       view_of({a, b}, {b}, std::as_const(indices))};
    kernel.run(views, ranges, view_of({a, b}, {b}, result), true);
  };
  index[0] = 3;
  index[1] = -1;
  index[2] = 4;
  run();
  EXPECT_EQ(result.data<double>()[0], 3);
  EXPECT_EQ(result.data<double>()[1], 0);
  EXPECT_EQ(result.data<double>()[2], 0);
  kernel.check_indices(1, indices, ranges);

  index[2] = kIndexOutOfBounds;
  for (const bool only_checks : {false, true}) {
    try {
      if (only_checks) kernel.check_indices(1, indices, ranges);
      else run();
      FAIL() << "there is no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), "an index of dimension 1 of X lies outside its extent of 4, at b = 8");
      EXPECT_EQ(error.hint(), "indices go from 0 to 3; with PAD 0 before the bracket closes, there are zeros outside");
    }
  }
}

TEST(AccessKernel, IndicesBeyondSixtyFourBitsAreRefused) {
  LabelTable labels;
  const auto a = labels.add("a", 4);
  const auto i = labels.add("i", std::int64_t{1} << 40U);
  const EinSum einsum{
      .inputs = {{a}},
      .output = {i},
      .aggregated = {a},
      .expression = call(
          Case,
          {call(Equal, {index_of(a), call(Multiply, {index_of(i), number(std::int64_t{1} << 30U)})}), x(), number(0)}),
      .aggregate = Aggregate::Sum};
  EXPECT_THROW(AccessKernel(*access_form(einsum), einsum, labels, DType::Float64), Error);
}

}  // namespace
}  // namespace eindb
