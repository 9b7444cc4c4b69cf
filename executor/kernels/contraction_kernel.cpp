#include "executor/kernels/contraction_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "executor/kernels/matrix_product.hpp"
#include "tensor/scalar_types.hpp"

namespace eindb {

ContractionKernel::ContractionKernel(const ContractionForm& form, const EinSum& einsum, const LabelTable& labels,
                                     const std::vector<DType>& operand_types, DType compute)
    : left_(form.left), right_(form.right), factor_(form.factor), compute_(compute), roles_(form.roles) {
  const auto all = einsum.labels();
  CHECK(roles_.size() == all.size(), "each label of a contraction has its role");
  CHECK(std::max(left_, right_) < operand_types.size(), "a contraction multiplies two of its inputs");
  reduce_left_ =
      reduction(einsum, left_, all, roles_, ContractionRole::SummedLeft, labels, operand_types[left_], compute);
  reduce_right_ =
      reduction(einsum, right_, all, roles_, ContractionRole::SummedRight, labels, operand_types[right_], compute);
}

std::optional<ContractionKernel::Reduction> ContractionKernel::reduction(
    const EinSum& einsum, std::size_t operand, const Labels& all, const std::vector<ContractionRole>& roles,
    ContractionRole summed, const LabelTable& labels, DType type, DType compute) {
  EinSum sum;
  sum.inputs = {einsum.inputs[operand]};
  sum.expression = with_types(ScalarExpression::operand(0), std::span(&type, 1), labels, compute);
  sum.aggregate = Aggregate::Sum;
  for (std::size_t n = 0; n < all.size(); ++n)
    if (contains(sum.inputs[0], all[n])) (roles[n] == summed ? sum.aggregated : sum.output).push_back(all[n]);
  if (sum.aggregated.empty()) return std::nullopt;

  std::vector<std::size_t> places;
  std::vector<bool> kept;
  for (const auto label : sum.labels()) {
    places.push_back(static_cast<std::size_t>(std::find(all.begin(), all.end(), label) - all.begin()));
    kept.push_back(contains(sum.output, label));
  }
  return Reduction{std::move(places), std::move(kept), ExpressionKernel(sum, labels, {type}, compute)};
}

ContractionSize ContractionKernel::size(std::span<const std::int64_t> label_sizes) const {
  DCHECK(label_sizes.size() == roles_.size(), "a contraction is as large as its labels");
  ContractionSize size;
  for (std::size_t n = 0; n < roles_.size(); ++n) {
    switch (roles_[n]) {
      case ContractionRole::Batch: size.batch = checked_multiply(size.batch, label_sizes[n]); break;
      case ContractionRole::Left: size.m = checked_multiply(size.m, label_sizes[n]); break;
      case ContractionRole::Right: size.n = checked_multiply(size.n, label_sizes[n]); break;
      case ContractionRole::Contracted: size.k = checked_multiply(size.k, label_sizes[n]); break;
      case ContractionRole::SummedLeft:
      case ContractionRole::SummedRight: break;
    }
  }
  return size;
}

std::size_t ContractionKernel::workspace_bytes(const LevelTable& level,
                                               std::span<const std::int64_t> label_sizes) const {
  auto bytes = product_workspace_bytes(level, compute_, matrix_labels(), label_sizes);
  const auto add = [&](const std::optional<Reduction>& reduction) {
    if (!reduction) return;
    auto reduced = size_of(compute_);
    for (std::size_t n = 0; n < reduction->labels.size(); ++n)
      if (reduction->kept[n])
        reduced = checked_multiply(reduced, static_cast<std::size_t>(label_sizes[reduction->labels[n]]));
    bytes += reduced;
  };
  add(reduce_left_);
  add(reduce_right_);
  return bytes;
}

// Sums the operand over the labels that only it has: a new tile over its other labels, in the order of all labels.
LabelView ContractionKernel::reduced(const LevelTable& level, const Reduction& reduction, const LabelView& operand,
                                     std::span<const PartRange> ranges, std::vector<Tile>& tiles) const {
  std::vector<bool> kept(ranges.size(), false);
  for (std::size_t n = 0; n < reduction.labels.size(); ++n) kept[reduction.labels[n]] = reduction.kept[n];
  std::vector<std::int64_t> extents;
  for (std::size_t n = 0; n < ranges.size(); ++n)
    if (kept[n]) extents.push_back(ranges[n].size);
  tiles.push_back(Tile::uninitialized(compute_, Shape(std::move(extents))));
  auto& tile = tiles.back();

  LabelView result{compute_, tile.bytes().data(), std::vector<std::int64_t>(ranges.size(), 0)};
  const auto strides = tile.shape().row_major_strides();
  for (std::size_t n = 0, d = 0; n < ranges.size(); ++n)
    if (kept[n]) result.strides[n] = strides[d++];

  LabelView from{operand.dtype, operand.data, {}};
  MutableLabelView to{compute_, tile.mutable_bytes().data(), {}};
  std::vector<PartRange> own_ranges;
  for (const auto place : reduction.labels) {
    from.strides.push_back(operand.strides[place]);
    to.strides.push_back(result.strides[place]);
    own_ranges.push_back(ranges[place]);
  }
  reduction.kernel.run(level, std::span(&from, 1), own_ranges, to, true);
  return result;
}

void ContractionKernel::run(const LevelTable& level, std::span<const LabelView> operands,
                            std::span<const PartRange> ranges, const MutableLabelView& accumulator, bool first,
                            bool as_bytes) const {
  std::vector<Tile> tiles;
  const auto left = reduce_left_ ? reduced(level, *reduce_left_, operands[left_], ranges, tiles) : operands[left_];
  const auto right = reduce_right_ ? reduced(level, *reduce_right_, operands[right_], ranges, tiles) : operands[right_];
  std::vector<std::int64_t> sizes;
  for (const auto& range : ranges) sizes.push_back(range.size);
  if (as_bytes) return multiply_as_bytes(level, factor_, matrix_labels(), sizes, left, right, accumulator, first);
  multiply_matrices(level, compute_, factor_, matrix_labels(), sizes, left, right, accumulator, first);
}

std::optional<ProductPlan> ContractionKernel::plan(const LevelTable& level, std::span<const LabelView> operands,
                                                   std::span<const std::int64_t> label_sizes,
                                                   const MutableLabelView& result) const {
  if (reduce_left_ || reduce_right_) return std::nullopt;
  return ProductPlan(level, compute_, matrix_labels(), label_sizes, operands[left_], operands[right_], result);
}

std::string ContractionKernel::path(const LevelTable& level, std::span<const LabelView> operands,
                                    std::span<const std::int64_t> label_sizes, const MutableLabelView& result) const {
  const ProductPlan product(level, compute_, matrix_labels(), label_sizes, operands[left_], operands[right_], result);
  return std::string(product.path());
}

bool ContractionKernel::reads_encoded(const LevelTable& level, std::span<const LabelView> operands,
                                      std::span<const std::int64_t> label_sizes, const MutableLabelView& result) const {
  const auto is_reduced = [&](const auto& reduction, std::size_t operand) {
    return reduction && operands[operand].encoding != Encoding::Plain;
  };
  if (is_reduced(reduce_left_, left_) || is_reduced(reduce_right_, right_)) return false;
  return ProductPlan(level, compute_, matrix_labels(), label_sizes, operands[left_], operands[right_], result)
      .reads_encoded();
}

bool ContractionKernel::reads_bytes(std::span<const LabelView> operands, std::span<const std::int64_t> label_sizes,
                                    const MutableLabelView& result) const {
  const auto holds = [&](std::size_t n) {
    return operands[n].dtype == DType::Int64 &&
           (operands[n].encoding == Encoding::Plain || operands[n].encoding == Encoding::Int8);
  };
  return compute_ == DType::Int64 && operands.size() == 2 && left_ != right_ && !reduce_left_ && !reduce_right_ &&
         holds(left_) && holds(right_) &&
         multiplies_as_bytes(matrix_labels(), label_sizes, operands[left_], operands[right_], result);
}

MatrixLabels ContractionKernel::matrix_labels() const {
  MatrixLabels labels;
  for (std::size_t n = 0; n < roles_.size(); ++n) {
    switch (roles_[n]) {
      case ContractionRole::Batch: labels.batch.push_back(n); break;
      case ContractionRole::Left: labels.m.push_back(n); break;
      case ContractionRole::Right: labels.n.push_back(n); break;
      case ContractionRole::Contracted: labels.k.push_back(n); break;
      case ContractionRole::SummedLeft:
      case ContractionRole::SummedRight: break;
    }
  }
  return labels;
}

}  // namespace eindb
