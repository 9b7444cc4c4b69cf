#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/kernels/expression_kernel.hpp"
#include "executor/kernels/label_view.hpp"
#include "executor/kernels/level_table.hpp"
#include "executor/kernels/matrix_product.hpp"
#include "tensor/contraction_form.hpp"

namespace eindb {

/// The sizes of a contraction as a batch of matrix products.
struct ContractionSize {
  std::int64_t batch = 1;
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
};

/// The kernel of SUM over a product of two operands, by matrix products: labels of one role become one dimension of a
/// matrix, in whatever order they lie; no operand is copied as a whole. matrix_product.hpp says how they are
/// multiplied. Labels that only one operand has are summed first. Complex products are the plain formula's, which
/// infinities turn into NaN.
///
/// Immutable, thread-safe.
class ContractionKernel {
 public:
  /// `form`: that of the EinSum.
  ContractionKernel(const ContractionForm& form, const EinSum& einsum, const LabelTable& labels,
                    const std::vector<DType>& operand_types, DType compute);

  ContractionSize size(std::span<const std::int64_t> label_sizes) const;

  /// Bytes beside operands and result that a call of these sizes, or smaller ones, takes at most: packing buffers,
  /// which stay with the thread for its next call (see Workspace), and operands without the labels that only they have.
  std::size_t workspace_bytes(const LevelTable& level, std::span<const std::int64_t> label_sizes) const;
  /// How tiles of these views are multiplied, see product_path. No elements are looked at.
  std::string path(const LevelTable& level, std::span<const LabelView> operands,
                   std::span<const std::int64_t> label_sizes, const MutableLabelView& result) const;

  /// As ExpressionKernel::run.
  void run(const LevelTable& level, std::span<const LabelView> operands, std::span<const PartRange> ranges,
           const MutableLabelView& accumulator, bool first) const;

 private:
  // The sum over the labels that only one operand has, as a kernel of its own.
  struct Reduction {
    std::vector<std::size_t> labels;  // of the reduction's EinSum, as places in the whole EinSum's labels
    std::vector<bool> kept;           // those that the result still has
    ExpressionKernel kernel;
  };

  MatrixLabels matrix_labels() const;
  static std::optional<Reduction> reduction(const EinSum& einsum, std::size_t operand, const Labels& all,
                                            const std::vector<ContractionRole>& roles, ContractionRole summed,
                                            const LabelTable& labels, DType type, DType compute);
  LabelView reduced(const LevelTable& level, const Reduction& reduction, const LabelView& operand,
                    std::span<const PartRange> ranges, std::vector<Tile>& tiles) const;

  std::size_t left_;  // operand numbers
  std::size_t right_;
  double factor_;
  DType compute_;
  std::vector<ContractionRole> roles_;  // per label
  std::optional<Reduction> reduce_left_;
  std::optional<Reduction> reduce_right_;
};

}  // namespace eindb
