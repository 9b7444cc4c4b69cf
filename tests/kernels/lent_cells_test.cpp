// Calls of kernels of cells that threads help with: the results of calls that are made alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/kernels/cell_kernel.hpp"
#include "executor/kernels/lent_threads.hpp"
#include "tensor/cell_form.hpp"
#include "tensor/scalar_types.hpp"
#include "tests/kernels/random_einsum.hpp"
#include "tests/tensor/scalar_builders.hpp"

namespace eindb {
namespace {

// Makes the parts in the opposite order, in this thread.
class BackwardsHelpers final : public LentThreads {
 public:
  void for_each(std::int64_t count, const std::function<void(std::int64_t)>& task) override {
    parts += count;
    for (auto part = count; part-- > 0;) task(part);
  }
  std::int64_t parts = 0;
};

// Operands in capitals of `kinds` are of cells ('S') or dense ('D'); labels have as many indices as extents say.
struct LentForm {
  std::vector<std::string> inputs;
  std::string kinds;
  std::string output;
  Aggregate aggregate;
  bool is_helped;
  bool ends_full = false;  // nearly all cells are in the last row
};

constexpr std::int64_t kLentExtent = 260;  // of i and j
constexpr std::int64_t kLentColumns = 9;   // of k, where it is no label of cells

class LentCells {
 public:
  LentCells(const LentForm& form, DType type, Random& random) : type_(type) {
    for (const auto& input : form.inputs) einsum_.inputs.push_back(labels_of(input, form));
    einsum_.output = labels_of(form.output, form);
    einsum_.aggregate = form.aggregate;
    for (const auto& input : einsum_.inputs) append_distinct(einsum_.aggregated, difference(input, einsum_.output));
    ScalarPtr product = ScalarExpression::operand(0);
    for (std::size_t n = 1; n < form.inputs.size(); ++n)
      product = call(ScalarOp::Multiply, {product, ScalarExpression::operand(n)});
    const std::vector<DType> types(form.inputs.size(), type);
    einsum_.expression = with_types(product, types, labels_, type);
    std::vector<bool> of_cells;
    for (std::size_t n = 0; n < form.inputs.size(); ++n) {
      of_cells.push_back(form.kinds[n] == 'S');
      tiles_.push_back(tile_of(einsum_.inputs[n], of_cells[n], form.ends_full, random));
    }
    const std::vector<OperandFacts> finite(types.size(), {.magnitude = 8});
    const auto pattern = cell_pattern(einsum_, types, of_cells, finite, Zero::EitherSign);
    kernel_.emplace(einsum_, labels_, types, type, of_cells, *pattern);
  }

  Tile result(LentThreads* helpers) const {
    const LentThreads::Scope scope(helpers);
    std::vector<const Tile*> operands;
    for (const auto& tile : tiles_) operands.push_back(&tile);
    std::vector<PartRange> ranges;
    for (const auto label : einsum_.labels()) ranges.push_back({0, labels_.extent(label)});
    auto made = Tile::uninitialized(type_, Shape(labels_.extents(einsum_.output)));
    kernel_->run(operands, ranges, made, true);
    return made;
  }

 private:
  Labels labels_of(const std::string& names, const LentForm& form) {
    Labels labels;
    for (const auto name : names) {
      if (known_.find(name) == std::string::npos) {
        known_ += name;
        const bool is_dense = name == 'k' && form.kinds.find('D') != std::string::npos;
        labels_.add(std::string(1, name), is_dense ? kLentColumns : kLentExtent);
      }
      labels.push_back(Label(known_.find(name)));
    }
    return labels;
  }

  // Whole numbers, whose sums are exact in any order. Rows of cells become longer and longer, or the last one is all.
  Tile tile_of(const Labels& labels, bool of_cells, bool ends_full, Random& random) const {
    const Shape shape(labels_.extents(labels));
    auto tile = Tile::zeros(type_, shape);
    dispatch(type_, [&](auto t) {
      using T = typename decltype(t)::type;
      const auto last = shape.element_count() - kLentExtent;
      for (std::int64_t n = 0; n < shape.element_count(); ++n)
        if (!of_cells || (ends_full ? n >= last || n % 5000 == 0 : draw(random, 0, kLentExtent) < n / kLentExtent))
          tile.mutable_data<T>()[n] = convert_value<T>(draw(random, 1, 9) - 5);
    });
    if (!of_cells) return tile;
    return Tile::of_cells(std::make_shared<const CellBlock>(CellBlock::of_dense(type_, shape, tile.bytes())));
  }

  DType type_;
  LabelTable labels_;
  std::string known_;
  EinSum einsum_;
  std::vector<Tile> tiles_;
  std::optional<CellKernel> kernel_;
};

TEST(LentCells, GiveTheResultsOfOneThread) {
  using enum Aggregate;
  const std::vector<LentForm> forms{
      {{"ij", "j"}, "SD", "i", Sum, true},
      {{"ij", "j"}, "SS", "i", Sum, true},
      {{"ij", "jk"}, "SD", "ik", Sum, true},
      {{"ij", "ik", "jk"}, "SDD", "ij", Sum, true},
      {{"ij"}, "S", "i", Sum, true},
      {{"ij"}, "S", "", Sum, true},
      {{"ij", "ij"}, "SS", "", Sum, true},
      {{"ij", "jk", "ik"}, "SSS", "", Sum, true},
      {{"ij", "jk", "ik"}, "SSS", "i", Sum, true},
      {{"ij", "i"}, "SD", "j", Sum, false},
      {{"ij", "j"}, "SD", "i", Max, true},
      {{"ij", "jk"}, "SD", "", Min, true},
      {{"ij", "jl"}, "SD", "il", Sum, false, true},
  };
  Random random(5);
  for (const auto type : {DType::Int64, DType::Float32, DType::Float64, DType::Complex128}) {
    for (const auto& form : forms) {
      if (is_complex(type) && form.aggregate != Sum) continue;
      const LentCells cells(form, type, random);
      BackwardsHelpers helpers;
      const auto alone = cells.result(nullptr);
      const auto helped = cells.result(&helpers);
      EXPECT_TRUE(std::ranges::equal(alone.bytes(), helped.bytes()))
          << form.inputs.front() << " " << form.output << " " << name_of(type);
      EXPECT_EQ(helpers.parts > 1, form.is_helped) << form.inputs.front() << " -> " << form.output;
    }
  }
}

}  // namespace
}  // namespace eindb
