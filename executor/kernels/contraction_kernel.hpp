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

/// Computes SUM over a product of two operands by matrix products: the labels of one role, in any order, form one
/// dimension of a matrix. No operand is copied as a whole; see matrix_product.hpp. Labels that only one operand has are
/// summed first. Complex products use the plain formula, which turns infinities into NaN.
///
/// Immutable, thread-safe.
class ContractionKernel {
 public:
  /// `form`: that of the EinSum.
  ContractionKernel(const ContractionForm& form, const EinSum& einsum, const LabelTable& labels,
                    const std::vector<DType>& operand_types, DType compute);

  ContractionSize size(std::span<const std::int64_t> label_sizes) const;

  /// The most bytes beside operands and result for a call of at most these sizes: packing buffers, which the thread
  /// keeps for its next call (see Workspace), and operands summed over their own labels.
  std::size_t workspace_bytes(const LevelTable& level, std::span<const std::int64_t> label_sizes) const;
  /// The product path for tiles of these views, see product_path. Does not read elements.
  std::string path(const LevelTable& level, std::span<const LabelView> operands,
                   std::span<const std::int64_t> label_sizes, const MutableLabelView& result) const;

  /// Whether the encoded ones of these operands are read as they are. Does not read elements.
  bool reads_encoded(const LevelTable& level, std::span<const LabelView> operands,
                     std::span<const std::int64_t> label_sizes, const MutableLabelView& result) const;
  /// Whether a product of operands that hold values of INT8 alone, encoded so or not, is one of bytes.
  bool reads_bytes(std::span<const LabelView> operands, std::span<const std::int64_t> label_sizes,
                   const MutableLabelView& result) const;
  /// The product for operands with these views, planned for calls whose elements lie so; nullopt if an operand is
  /// summed first. Does not read elements.
  std::optional<ProductPlan> plan(const LevelTable& level, std::span<const LabelView> operands,
                                  std::span<const std::int64_t> label_sizes, const MutableLabelView& result) const;
  /// run() by such a plan: of the first element of each operand.
  void run(const ProductPlan& plan, std::span<const Tile* const> operands, void* accumulator, bool first) const {
    plan.multiply(factor_, operands[left_]->first(), operands[right_]->first(), accumulator, first);
  }
  /// See ExpressionKernel::run. `as_bytes`: where reads_bytes() says so.
  void run(const LevelTable& level, std::span<const LabelView> operands, std::span<const PartRange> ranges,
           const MutableLabelView& accumulator, bool first, bool as_bytes = false) const;

 private:
  // Sums an operand over the labels that only it has, by a kernel of its own.
  struct Reduction {
    std::vector<std::size_t> labels;  // labels of the reduction's EinSum, as positions in the whole EinSum's labels
    std::vector<bool> kept;           // whether each of them remains in the result
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
