#include "executor/kernels/log_sum_exp_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "executor/kernels/scratch.hpp"
#include "executor/kernels/strided_copy.hpp"
#include "tensor/scalar_semantics.hpp"

namespace eindb {
namespace {

using Places = std::vector<std::size_t>;
using Strides = std::vector<std::int64_t>;

constexpr auto kDouble = static_cast<std::int64_t>(sizeof(double));
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Smaller sums may lack terms that underflowed.
constexpr double kLeastExactSum = 1e-280;

// The labels of a matrix: a batch, rows and columns, each in the order of the labels.
struct Layout {
  Places places;
  Strides extents;
  std::int64_t rows = 1;  // of the whole batch
  std::int64_t columns = 1;

  std::int64_t bytes() const { return checked_multiply(checked_multiply(rows, columns), kDouble); }
};

std::int64_t count_of(const Places& places, const Strides& sizes) {
  std::int64_t count = 1;
  for (const auto p : places) count = checked_multiply(count, sizes[p]);
  return count;
}

Places with_role(const std::vector<ContractionRole>& roles, ContractionRole wanted) {
  Places out;
  for (std::size_t n = 0; n < roles.size(); ++n)
    if (roles[n] == wanted) out.push_back(n);
  return out;
}

Layout layout_of(const std::vector<ContractionRole>& roles, const Strides& sizes, ContractionRole rows,
                 ContractionRole columns) {
  Layout layout;
  const auto add = [&](ContractionRole role) {
    const auto places = with_role(roles, role);
    for (const auto p : places) {
      layout.places.push_back(p);
      layout.extents.push_back(sizes[p]);
    }
    return count_of(places, sizes);
  };
  const auto batch = add(ContractionRole::Batch);
  layout.rows = checked_multiply(batch, add(rows));
  layout.columns = add(columns);
  return layout;
}

// A row-major matrix of doubles, seen by the labels of the EinSum.
MutableLabelView view_of_matrix(const Layout& layout, double* data, std::size_t labels) {
  MutableLabelView view{DType::Float64, data, Strides(labels, 0)};
  std::int64_t stride = 1;
  for (std::size_t n = layout.places.size(); n-- > 0; stride *= layout.extents[n])
    view.strides[layout.places[n]] = stride;
  return view;
}

Strides strides_at(const Places& places, const Strides& strides) {
  Strides out;
  for (const auto p : places) out.push_back(strides[p]);
  return out;
}

// One operand: the exponentials of each row less the greatest value of the row, and these values. A row whose greatest
// value is infinite or NaN has zeros.
class Exponentials {
 public:
  Exponentials(const LevelTable& level, const LabelView& operand, Layout layout)
      : level_(level),
        operand_(operand),
        layout_(std::move(layout)),
        values_(static_cast<std::size_t>(layout_.bytes())),
        greatest_(static_cast<std::size_t>(layout_.rows)) {
    const auto matrix = view_of_matrix(layout_, data(), operand.strides.size());
    const auto to = strides_at(layout_.places, matrix.strides);
    const auto from = strides_at(layout_.places, operand.strides);
    copy_strided(level, {DType::Float64, data(), to}, {operand.dtype, operand.data, from}, layout_.extents);
    const Scratch shifted(static_cast<std::size_t>(checked_multiply(layout_.columns, kDouble)));
    for (std::int64_t r = 0; r < layout_.rows; ++r) take_exponentials(r, reinterpret_cast<double*>(shifted.data()));
  }

  LabelView view() const {
    const auto view = view_of_matrix(layout_, data(), operand_.strides.size());
    return {view.dtype, view.data, view.strides};
  }
  double greatest(std::int64_t row) const { return greatest_[static_cast<std::size_t>(row)]; }

  // The values of a row as they are in the operand.
  void read_row(std::int64_t row, double* to) const {
    std::int64_t offset = 0;
    std::size_t outer = 0;
    while (outer < layout_.places.size() && columns_before(outer) > layout_.columns) ++outer;
    for (std::size_t n = outer; n-- > 0; row /= layout_.extents[n])
      offset += row % layout_.extents[n] * operand_.strides[layout_.places[n]];
    const Places inner(layout_.places.begin() + static_cast<std::ptrdiff_t>(outer), layout_.places.end());
    const Strides extents(layout_.extents.begin() + static_cast<std::ptrdiff_t>(outer), layout_.extents.end());
    const auto matrix = view_of_matrix(layout_, nullptr, operand_.strides.size());
    const auto* from =
        static_cast<const std::byte*>(operand_.data) + offset * static_cast<std::int64_t>(size_of(operand_.dtype));
    copy_strided(level_, {DType::Float64, to, strides_at(inner, matrix.strides)},
                 {operand_.dtype, from, strides_at(inner, operand_.strides)}, extents);
  }

 private:
  double* data() const { return reinterpret_cast<double*>(values_.data()); }

  // The number of elements of the dimensions from `n` on.
  std::int64_t columns_before(std::size_t n) const {
    std::int64_t count = 1;
    for (; n < layout_.extents.size(); ++n) count *= layout_.extents[n];
    return count;
  }

  void take_exponentials(std::int64_t row, double* shifted) {
    poll_cancellation();
    auto* values = data() + row * layout_.columns;
    double greatest = -kInfinity;
    for (std::int64_t c = 0; c < layout_.columns; ++c) greatest = scalar_greatest(greatest, values[c]);
    greatest_[static_cast<std::size_t>(row)] = greatest;
    if (!std::isfinite(greatest)) return static_cast<void>(std::fill_n(values, layout_.columns, 0.0));
    for (std::int64_t c = 0; c < layout_.columns; ++c) shifted[c] = values[c] - greatest;
    level_.of(DType::Float64).unary[slot_of(ScalarOp::Exp)](values, shifted, layout_.columns);
  }

  const LevelTable& level_;
  const LabelView& operand_;
  Layout layout_;
  Scratch values_;
  std::vector<double> greatest_;  // of each row
};

// LOGSUMEXP of the sums of two rows, term by term.
double term_by_term(const double* a, const double* b, std::int64_t count) {
  double greatest = -kInfinity;
  for (std::int64_t n = 0; n < count; ++n) greatest = scalar_greatest(greatest, a[n] + b[n]);
  if (!std::isfinite(greatest)) return greatest;
  double sum = 0;
  for (std::int64_t n = 0; n < count; ++n) sum += std::exp(a[n] + b[n] - greatest);
  return greatest + std::log(sum);
}

// Turns the sums of products into the result.
class Logarithms {
 public:
  Logarithms(const LevelTable& level, const Exponentials& left, const Exponentials& right, std::int64_t depth)
      : level_(level), left_(left), right_(right), depth_(depth) {}

  // Rows of the left operand number `row`, of the right one from `first_column` on.
  void apply(double* sums, double* scratch, std::int64_t row, std::int64_t first_column, std::int64_t columns) {
    poll_cancellation();
    has_row_ = false;
    level_.of(DType::Float64).unary[slot_of(ScalarOp::Log)](scratch, sums, columns);
    const double a = left_.greatest(row);
    for (std::int64_t c = 0; c < columns; ++c) {
      const double b = right_.greatest(first_column + c);
      const bool exact = std::isfinite(a) && std::isfinite(b) && sums[c] >= kLeastExactSum;
      sums[c] = exact ? scratch[c] + a + b : cell(row, first_column + c);
    }
  }

 private:
  double cell(std::int64_t row, std::int64_t column) {
    if (row_.empty()) {
      row_.resize(static_cast<std::size_t>(depth_));
      column_.resize(static_cast<std::size_t>(depth_));
    }
    if (!has_row_) left_.read_row(row, row_.data());
    has_row_ = true;
    right_.read_row(column, column_.data());
    return term_by_term(row_.data(), column_.data(), depth_);
  }

  const LevelTable& level_;
  const Exponentials& left_;
  const Exponentials& right_;
  std::int64_t depth_;
  std::vector<double> row_;
  std::vector<double> column_;
  bool has_row_ = false;
};

}  // namespace

LogSumExpKernel::LogSumExpKernel(const PairForm& form, DType compute)
    : left_(form.left),
      right_(form.right),
      roles_(form.roles),
      products_({PairFunction::Multiply, 0, 1, form.roles}, Aggregate::Sum, DType::Float64) {
  CHECK(compute == DType::Float32 || compute == DType::Float64, "LOGSUMEXP is for real floating-point numbers");
}

void LogSumExpKernel::run(const LevelTable& level, std::span<const LabelView> operands,
                          std::span<const PartRange> ranges, const MutableLabelView& accumulator, bool first) const {
  Strides sizes;
  for (const auto& range : ranges) sizes.push_back(range.size);
  using enum ContractionRole;
  const Exponentials left(level, operands[left_], layout_of(roles_, sizes, Left, Contracted));
  const Exponentials right(level, operands[right_], layout_of(roles_, sizes, Right, Contracted));
  const auto result = layout_of(roles_, sizes, Left, Right);
  const Scratch sums(static_cast<std::size_t>(result.bytes()));
  const Scratch other(static_cast<std::size_t>(result.bytes()));
  auto* values = reinterpret_cast<double*>(sums.data());
  auto* before = reinterpret_cast<double*>(other.data());
  const auto view = view_of_matrix(result, values, roles_.size());
  const LabelView factors[] = {left.view(), right.view()};
  const bool multiplied = products_.run(level, factors, ranges, view, true);
  CHECK(multiplied, "sums of products know all values");

  const auto batch = count_of(with_role(roles_, Batch), sizes);
  const auto rows = result.rows / batch;
  Logarithms logarithms(level, left, right, count_of(with_role(roles_, Contracted), sizes));
  for (std::int64_t r = 0; r < result.rows; ++r)
    logarithms.apply(values + r * result.columns, before, r, r / rows * result.columns, result.columns);

  const auto own = strides_at(result.places, view.strides);
  const auto there = strides_at(result.places, accumulator.strides);
  if (!first) {
    copy_strided(level, {DType::Float64, before, own}, {accumulator.dtype, accumulator.data, there}, result.extents);
    level.of(DType::Float64).combine[slot_of(Aggregate::LogSumExp)](values, before, result.rows * result.columns);
  }
  copy_strided(level, {accumulator.dtype, accumulator.data, there}, {DType::Float64, values, own}, result.extents);
}

std::size_t LogSumExpKernel::workspace_bytes(const LevelTable& level, std::span<const std::int64_t> label_sizes) const {
  using enum ContractionRole;
  const Strides sizes(label_sizes.begin(), label_sizes.end());
  const auto left = layout_of(roles_, sizes, Left, Contracted);
  const auto right = layout_of(roles_, sizes, Right, Contracted);
  const auto result = layout_of(roles_, sizes, Left, Right);
  const auto view = view_of_matrix(result, nullptr, roles_.size());
  const auto operand = [&](const Layout& layout) {
    const auto matrix = view_of_matrix(layout, nullptr, roles_.size());
    return LabelView{matrix.dtype, nullptr, matrix.strides};
  };
  const LabelView factors[] = {operand(left), operand(right)};
  const auto own =
      left.bytes() + right.bytes() + 2 * result.bytes() + (left.rows + right.rows + 3 * left.columns) * kDouble;
  return static_cast<std::size_t>(own) + products_.workspace_bytes(level, factors, label_sizes, view);
}

}  // namespace eindb
