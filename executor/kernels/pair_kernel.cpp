#include "executor/kernels/pair_kernel.hpp"

#include <algorithm>
#include <array>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "executor/kernels/pair_matrices.hpp"
#include "executor/kernels/scratch.hpp"
#include "executor/kernels/truth_run.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kPanelDepth = 128;      // of packed panels: one of each operand fits the first-level cache
constexpr std::int64_t kMostRowsPacked = 128;  // of the left operand at a time
constexpr std::int64_t kPackedBytes = 256 * 1024;

bool is_truth(PairFunction function) {
  using enum PairFunction;
  return function == Equal || function == NotEqual || function == Less || function == LessEqual || function == And ||
         function == Or;
}

// Whether the pair blocks, which do not handle NaN, give the defined result for operands with such values.
bool knows(PairFunction function, Aggregate aggregate, unsigned left, unsigned right) {
  using enum PairFunction;
  if (is_truth(function)) return true;
  const bool orders = function == Least || function == Greatest;
  if (aggregate == Aggregate::Sum && !orders) return true;
  if (((left | right) & kHasNan) != 0) return false;
  constexpr auto kInfinities = kHasInfinity | kHasNegativeInfinity;
  const auto infinities = (left | right) & kInfinities;
  if (orders) return aggregate != Aggregate::Sum || infinities != kInfinities;
  // Finite values may overflow to infinity but not to NaN. A sum with infinities of one sign is infinite; other cases
  // are undecided.
  if (function == Add) return infinities != kInfinities;
  return infinities == 0;
}

class PairRun {
 public:
  PairRun(const LevelTable& level, DType compute, PairFunction function, Aggregate aggregate,
          const PairMatrices& matrices)
      : table_(level.of(compute)),
        compute_(compute),
        function_(function),
        aggregate_(aggregate),
        matrices_(matrices),
        element_(static_cast<std::int64_t>(size_of(compute))) {
    plan_panels();
  }

  bool run(const LabelView& a, const LabelView& b, const MutableLabelView& c, bool first) {
    const auto left = matrices_.left(a);
    const auto right = matrices_.right(b);
    if (!knows(function_, aggregate_, specials(left, matrices_.rows()), specials(right, matrices_.columns())))
      return false;
    const auto result = matrices_.result(c, first);
    left_panels_.emplace(static_cast<std::size_t>(left_panel_bytes()));
    right_panels_.emplace(static_cast<std::size_t>(right_panel_bytes()));
    for (std::int64_t n = 0; n < matrices_.batch(); ++n) multiply(left, right, result, n, first);
    matrices_.write_result(c, result);
    return true;
  }

  std::int64_t panel_bytes() const { return left_panel_bytes() + right_panel_bytes(); }

 private:
  unsigned specials(const PairMatrix& matrix, std::int64_t rows) const {
    unsigned all = 0;
    for (std::int64_t n = 0; n < matrices_.batch(); ++n)
      all |=
          table_.specials({matrices_.at(matrix, n), matrix.row_stride, matrix.column_stride}, rows, matrices_.depth());
    return all;
  }

  static std::int64_t rounded_up(std::int64_t value, std::int64_t unit) { return ceil_divide(value, unit) * unit; }

  void plan_panels() {
    const auto panel = table_.pair_columns;
    columns_packed_ =
        std::min(rounded_up(matrices_.columns(), panel), std::max(panel, kPackedBytes / kPanelDepth / element_));
    columns_packed_ = rounded_up(columns_packed_, panel);
    CHECK(columns_packed_ > 0 && columns_packed_ % panel == 0, "whole panels are packed at a time");
    rows_packed_ = kMostRowsPacked / table_.pair_rows * table_.pair_rows;
  }
  std::int64_t left_panel_bytes() const { return rows_packed_ * kPanelDepth * element_; }
  std::int64_t right_panel_bytes() const { return columns_packed_ * kPanelDepth * element_; }

  // Multiplies one matrix of the batch in blocks of columns, then of depth. The right operand's block stays in the
  // second-level cache, one of its panels in the first.
  void multiply(const PairMatrix& a, const PairMatrix& b, const PairMatrix& c, std::int64_t batch, bool first) {
    const auto* left = matrices_.at(a, batch);
    const auto* right = matrices_.at(b, batch);
    auto* out = matrices_.at(c, batch);
    for (std::int64_t column = 0; column < matrices_.columns(); column += columns_packed_) {
      const auto columns = std::min(columns_packed_, matrices_.columns() - column);
      for (std::int64_t p = 0; p < matrices_.depth(); p += kPanelDepth) {
        const auto depth = std::min(kPanelDepth, matrices_.depth() - p);
        pack(*right_panels_, table_.pair_columns, right, b, column, columns, p, depth);
        for (std::int64_t row = 0; row < matrices_.rows(); row += rows_packed_) {
          const auto rows = std::min(rows_packed_, matrices_.rows() - row);
          pack(*left_panels_, table_.pair_rows, left, a, row, rows, p, depth);
          auto* corner = out + (row * c.row_stride + column * c.column_stride) * element_;
          block({corner, c.row_stride, c.column_stride}, rows, columns, depth, first && p == 0);
        }
      }
    }
  }

  // Packs `count` rows of a matrix from `begin` on into panels of `width` rows each: for each depth, the panel's rows
  // are contiguous. Surplus rows of the last panel have arbitrary values; they affect no cell.
  void pack(const Scratch& panels, std::int64_t width, const std::byte* data, const PairMatrix& matrix,
            std::int64_t begin, std::int64_t count, std::int64_t p, std::int64_t depth) const {
    for (std::int64_t row = 0; row < count; row += width) {
      auto* panel = panels.data() + row * depth * element_;
      const auto* from = data + ((begin + row) * matrix.row_stride + p * matrix.column_stride) * element_;
      const auto rows = std::min(width, count - row);
      table_.move[slot_of(compute_)]({panel, width, 1}, {from, matrix.column_stride, matrix.row_stride}, depth, rows);
    }
  }

  void block(MatrixView c, std::int64_t rows, std::int64_t columns, std::int64_t depth, bool first) const {
    const auto run = table_.pair[slot_of(function_)][slot_of(aggregate_)];
    for (std::int64_t s = 0; s < columns; s += table_.pair_columns) {
      poll_cancellation();
      for (std::int64_t r = 0; r < rows; r += table_.pair_rows)
        run(left_panels_->data() + r * depth * element_, right_panels_->data() + s * depth * element_, depth,
            {static_cast<std::byte*>(c.data) + (r * c.row_stride + s * c.column_stride) * element_, c.row_stride,
             c.column_stride},
            std::min(table_.pair_rows, rows - r), std::min(table_.pair_columns, columns - s), first);
    }
  }

  const ElementTable& table_;
  DType compute_;
  PairFunction function_;
  Aggregate aggregate_;
  const PairMatrices& matrices_;
  std::int64_t element_;
  std::int64_t columns_packed_ = 0;
  std::int64_t rows_packed_ = 0;
  std::optional<Scratch> left_panels_;
  std::optional<Scratch> right_panels_;
};

}  // namespace

PairKernel::PairKernel(const PairForm& form, Aggregate aggregate, DType compute)
    : function_(form.function),
      aggregate_(aggregate),
      compute_(compute),
      left_(form.left),
      right_(form.right),
      roles_(form.roles) {}

bool PairKernel::is_packed_as_bits() const { return packs_truths(function_, aggregate_); }

ContractionSize PairKernel::size(std::span<const std::int64_t> label_sizes) const {
  ContractionSize size;
  for (std::size_t n = 0; n < roles_.size(); ++n) {
    switch (roles_[n]) {
      case ContractionRole::Batch: size.batch = checked_multiply(size.batch, label_sizes[n]); break;
      case ContractionRole::Left: size.m = checked_multiply(size.m, label_sizes[n]); break;
      case ContractionRole::Right: size.n = checked_multiply(size.n, label_sizes[n]); break;
      default: size.k = checked_multiply(size.k, label_sizes[n]); break;
    }
  }
  return size;
}

bool PairKernel::run(const LevelTable& level, std::span<const LabelView> operands, std::span<const PartRange> ranges,
                     const MutableLabelView& accumulator, bool first) const {
  std::vector<std::int64_t> sizes;
  for (const auto& range : ranges) sizes.push_back(range.size);
  const auto groups = pair_groups(roles_, sizes, operands[left_].strides, accumulator.strides);
  const PairMatrices matrices(level, compute_, groups, sizes, !is_packed_as_bits());
  if (is_packed_as_bits()) {
    TruthRun(level, compute_, function_, aggregate_, matrices)
        .run(operands[left_], operands[right_], accumulator, first);
    return true;
  }
  return PairRun(level, compute_, function_, aggregate_, matrices)
      .run(operands[left_], operands[right_], accumulator, first);
}

std::size_t PairKernel::workspace_bytes(const LevelTable& level, std::span<const LabelView> operands,
                                        std::span<const std::int64_t> label_sizes,
                                        const MutableLabelView& accumulator) const {
  const std::vector<std::int64_t> sizes(label_sizes.begin(), label_sizes.end());
  const auto groups = pair_groups(roles_, sizes, operands[left_].strides, accumulator.strides);
  const PairMatrices matrices(level, compute_, groups, sizes, !is_packed_as_bits());
  const auto panels = is_packed_as_bits() ? TruthRun(level, compute_, function_, aggregate_, matrices).panel_bytes()
                                          : PairRun(level, compute_, function_, aggregate_, matrices).panel_bytes();
  return static_cast<std::size_t>(panels + matrices.copied_bytes(operands[left_], operands[right_], accumulator));
}

std::string PairKernel::describe() const {
  static constexpr std::array<std::string_view, kPairFunctionCount> kNames{"sums",
                                                                           "differences",
                                                                           "products",
                                                                           "least values",
                                                                           "greatest values",
                                                                           "equal pairs",
                                                                           "unequal pairs",
                                                                           "smaller pairs",
                                                                           "ordered pairs",
                                                                           "conjunctions",
                                                                           "disjunctions",
                                                                           "squared differences",
                                                                           "absolute differences"};
  return std::string(name_of(aggregate_)) + " of " + std::string(kNames[slot_of(function_)]);
}

}  // namespace eindb
