#include "executor/kernels/pair_kernel.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "executor/kernels/scratch.hpp"
#include "executor/kernels/strided_copy.hpp"

namespace eindb {
namespace {

using Places = std::vector<std::size_t>;
using Strides = std::vector<std::int64_t>;

constexpr std::int64_t kDepth = 128;       // of packed panels: one of each operand fits the first-level cache
constexpr std::int64_t kRowsPacked = 128;  // of the left operand at a time
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

struct Groups {
  Places batch;
  Places rows;
  Places columns;
  Places depth;
};

// A matrix of two groups of labels for each index of the batch labels, with the memory that it was packed into.
struct Matrix {
  std::byte* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
  Strides batch;
  std::shared_ptr<Scratch> memory;
};

class PairRun {
 public:
  PairRun(const LevelTable& level, DType compute, PairFunction function, Aggregate aggregate, const Groups& groups,
          const Strides& sizes)
      : level_(level),
        table_(level.of(compute)),
        compute_(compute),
        function_(function),
        aggregate_(aggregate),
        groups_(groups),
        sizes_(sizes),
        element_(static_cast<std::int64_t>(size_of(compute))),
        rows_(count(groups.rows)),
        columns_(count(groups.columns)),
        depth_(count(groups.depth)),
        batch_(count(groups.batch)) {}

  bool run(const LabelView& a, const LabelView& b, const MutableLabelView& c, bool first) {
    const auto left = operand(a, groups_.rows);
    const auto right = operand(b, groups_.columns);
    if (!knows(function_, aggregate_, specials(left, rows_), specials(right, columns_))) return false;
    auto result = in_place(c, groups_.rows, groups_.columns);
    const bool packed = !result;
    if (packed) result = scratch(groups_.rows, groups_.columns);
    if (packed && !first) copy(result_view(*result), {c.dtype, c.data, c.strides}, result_places());
    plan_panels();
    left_panels_.emplace(static_cast<std::size_t>(left_panel_bytes()));
    right_panels_.emplace(static_cast<std::size_t>(right_panel_bytes()));
    for (std::int64_t n = 0; n < batch_; ++n) multiply(left, right, *result, n, first);
    if (packed) {
      const auto from = result_view(*result);
      copy(c, {from.dtype, from.data, from.strides}, result_places());
    }
    return true;
  }

  // The memory that run() needs for copies and panels.
  std::size_t needed_bytes(const LabelView& a, const LabelView& b, const MutableLabelView& c) {
    plan_panels();
    auto bytes = left_panel_bytes() + right_panel_bytes();
    if (a.dtype != compute_ || !in_place(a, groups_.rows, groups_.depth))
      bytes += bytes_of(groups_.rows, groups_.depth);
    if (b.dtype != compute_ || !in_place(b, groups_.columns, groups_.depth))
      bytes += bytes_of(groups_.columns, groups_.depth);
    if (!in_place(c, groups_.rows, groups_.columns)) bytes += bytes_of(groups_.rows, groups_.columns);
    return static_cast<std::size_t>(bytes);
  }

 private:
  std::int64_t count(const Places& places) const {
    std::int64_t count = 1;
    for (const auto p : places) count = checked_multiply(count, sizes_[p]);
    return count;
  }

  // The stride of a group of labels as one dimension, the last label innermost; nullopt if they do not nest.
  std::optional<std::int64_t> fused(const Places& order, const Strides& strides) const {
    if (order.empty()) return 0;
    for (std::size_t n = 0; n + 1 < order.size(); ++n)
      if (strides[order[n]] != strides[order[n + 1]] * sizes_[order[n + 1]]) return std::nullopt;
    return strides[order.back()];
  }

  template <class View>
  std::optional<Matrix> in_place(const View& view, const Places& rows, const Places& columns) const {
    const auto row = fused(rows, view.strides);
    const auto column = fused(columns, view.strides);
    if (!row || !column) return std::nullopt;
    Matrix matrix{static_cast<std::byte*>(const_cast<void*>(view.data)), *row, *column, {}, nullptr};
    for (const auto p : groups_.batch) matrix.batch.push_back(view.strides[p]);
    return matrix;
  }

  std::int64_t bytes_of(const Places& rows, const Places& columns) const {
    return checked_multiply(checked_multiply(checked_multiply(count(columns), count(rows)), batch_), element_);
  }

  // A row-major matrix with the batch outermost.
  Matrix scratch(const Places& rows, const Places& columns) const {
    const auto width = count(columns);
    const auto height = count(rows);
    Matrix matrix{nullptr, width, 1, Strides(groups_.batch.size()),
                  std::make_shared<Scratch>(static_cast<std::size_t>(bytes_of(rows, columns)))};
    matrix.data = matrix.memory->data();
    auto stride = width * height;
    for (std::size_t n = groups_.batch.size(); n-- > 0; stride *= sizes_[groups_.batch[n]]) matrix.batch[n] = stride;
    return matrix;
  }

  Matrix operand(const LabelView& view, const Places& rows) const {
    if (view.dtype == compute_) {
      if (auto matrix = in_place(view, rows, groups_.depth)) return *std::move(matrix);
    }
    auto matrix = scratch(rows, groups_.depth);
    copy(view_of(matrix, rows, groups_.depth), view, places(rows, groups_.depth));
    return matrix;
  }

  Places places(const Places& rows, const Places& columns) const {
    Places all = groups_.batch;
    all.insert(all.end(), rows.begin(), rows.end());
    all.insert(all.end(), columns.begin(), columns.end());
    return all;
  }
  Places result_places() const { return places(groups_.rows, groups_.columns); }
  MutableLabelView result_view(const Matrix& matrix) const { return view_of(matrix, groups_.rows, groups_.columns); }

  MutableLabelView view_of(const Matrix& matrix, const Places& rows, const Places& columns) const {
    MutableLabelView view{compute_, matrix.data, Strides(sizes_.size(), 0)};
    const auto place = [&](const Places& group, std::int64_t stride) {
      for (auto p = group.rbegin(); p != group.rend(); ++p) {
        view.strides[*p] = stride;
        stride *= sizes_[*p];
      }
    };
    place(rows, matrix.row_stride);
    place(columns, matrix.column_stride);
    for (std::size_t n = 0; n < groups_.batch.size(); ++n) view.strides[groups_.batch[n]] = matrix.batch[n];
    return view;
  }

  void copy(const MutableLabelView& to, const LabelView& from, const Places& places) const {
    Strides target;
    Strides source;
    Strides extents;
    for (const auto p : places) {
      target.push_back(to.strides[p]);
      source.push_back(from.strides[p]);
      extents.push_back(sizes_[p]);
    }
    copy_strided(level_, {to.dtype, to.data, target}, {from.dtype, from.data, source}, extents);
  }

  std::byte* at(const Matrix& matrix, std::int64_t batch) const {
    std::int64_t offset = 0;
    for (std::size_t n = groups_.batch.size(); n-- > 0;) {
      offset += batch % sizes_[groups_.batch[n]] * matrix.batch[n];
      batch /= sizes_[groups_.batch[n]];
    }
    return matrix.data + offset * element_;
  }

  unsigned specials(const Matrix& matrix, std::int64_t rows) const {
    unsigned all = 0;
    for (std::int64_t n = 0; n < batch_; ++n)
      all |= table_.specials({at(matrix, n), matrix.row_stride, matrix.column_stride}, rows, depth_);
    return all;
  }

  static std::int64_t rounded_up(std::int64_t value, std::int64_t unit) { return ceil_divide(value, unit) * unit; }

  void plan_panels() {
    const auto panel = table_.pair_columns;
    columns_packed_ = std::min(rounded_up(columns_, panel), std::max(panel, kPackedBytes / kDepth / element_));
    columns_packed_ = rounded_up(columns_packed_, panel);
    CHECK(columns_packed_ > 0 && columns_packed_ % panel == 0, "whole panels are packed at a time");
  }
  std::int64_t left_panel_bytes() const { return rounded_up(kRowsPacked, table_.pair_rows) * kDepth * element_; }
  std::int64_t right_panel_bytes() const { return columns_packed_ * kDepth * element_; }

  // Multiplies one matrix of the batch in blocks of columns, then of depth. The right operand's block stays in the
  // second-level cache, one of its panels in the first.
  void multiply(const Matrix& a, const Matrix& b, const Matrix& c, std::int64_t batch, bool first) {
    const auto* left = at(a, batch);
    const auto* right = at(b, batch);
    auto* out = at(c, batch);
    for (std::int64_t column = 0; column < columns_; column += columns_packed_) {
      const auto columns = std::min(columns_packed_, columns_ - column);
      for (std::int64_t p = 0; p < depth_; p += kDepth) {
        const auto depth = std::min(kDepth, depth_ - p);
        pack(*right_panels_, table_.pair_columns, right, b, column, columns, p, depth);
        for (std::int64_t row = 0; row < rows_; row += kRowsPacked) {
          const auto rows = std::min(kRowsPacked, rows_ - row);
          pack(*left_panels_, table_.pair_rows, left, a, row, rows, p, depth);
          auto* corner = out + (row * c.row_stride + column * c.column_stride) * element_;
          block({corner, c.row_stride, c.column_stride}, rows, columns, depth, first && p == 0);
        }
      }
    }
  }

  // Packs `count` rows of a matrix from `begin` on into panels of `width` rows each: for each depth, the panel's rows
  // are contiguous. Surplus rows of the last panel have arbitrary values; they affect no cell.
  void pack(const Scratch& panels, std::int64_t width, const std::byte* data, const Matrix& matrix, std::int64_t begin,
            std::int64_t count, std::int64_t p, std::int64_t depth) const {
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

  const LevelTable& level_;
  const ElementTable& table_;
  DType compute_;
  PairFunction function_;
  Aggregate aggregate_;
  const Groups& groups_;
  const Strides& sizes_;
  std::int64_t element_;
  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t depth_;
  std::int64_t batch_;
  std::int64_t columns_packed_ = 0;
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

namespace {

// Sorted by the strides of the result; summed labels by those of the left operand.
Groups groups_of(const std::vector<ContractionRole>& roles, const Strides& sizes, const Strides& left,
                 const Strides& result) {
  CHECK(roles.size() == sizes.size(), "each label of a pair of operands has its role");
  Groups groups;
  for (std::size_t n = 0; n < roles.size(); ++n) {
    if (sizes[n] == 1) continue;
    switch (roles[n]) {
      case ContractionRole::Batch: groups.batch.push_back(n); break;
      case ContractionRole::Left: groups.rows.push_back(n); break;
      case ContractionRole::Right: groups.columns.push_back(n); break;
      default: groups.depth.push_back(n); break;
    }
  }
  const auto by_strides_of = [](Places& places, const Strides& strides) {
    std::stable_sort(places.begin(), places.end(), [&](auto a, auto b) { return strides[a] > strides[b]; });
  };
  by_strides_of(groups.rows, result);
  by_strides_of(groups.columns, result);
  by_strides_of(groups.depth, left);
  return groups;
}

}  // namespace

bool PairKernel::run(const LevelTable& level, std::span<const LabelView> operands, std::span<const PartRange> ranges,
                     const MutableLabelView& accumulator, bool first) const {
  Strides sizes;
  for (const auto& range : ranges) sizes.push_back(range.size);
  const auto groups = groups_of(roles_, sizes, operands[left_].strides, accumulator.strides);
  return PairRun(level, compute_, function_, aggregate_, groups, sizes)
      .run(operands[left_], operands[right_], accumulator, first);
}

std::size_t PairKernel::workspace_bytes(const LevelTable& level, std::span<const LabelView> operands,
                                        std::span<const std::int64_t> label_sizes,
                                        const MutableLabelView& accumulator) const {
  const Strides sizes(label_sizes.begin(), label_sizes.end());
  const auto groups = groups_of(roles_, sizes, operands[left_].strides, accumulator.strides);
  return PairRun(level, compute_, function_, aggregate_, groups, sizes)
      .needed_bytes(operands[left_], operands[right_], accumulator);
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
