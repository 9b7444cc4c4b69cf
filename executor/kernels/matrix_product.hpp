#pragma once

#include <span>
#include <string_view>

#include "executor/kernels/label_view.hpp"
#include "executor/kernels/level_table.hpp"
#include "executor/kernels/packed_product.hpp"

namespace eindb {

/// The labels of a batch of matrix products, as positions in the labels that views have strides for.
struct MatrixLabels {
  std::vector<std::size_t> batch;
  std::vector<std::size_t> m;
  std::vector<std::size_t> n;
  std::vector<std::size_t> k;
};

/// A product with its labels as groups. Of a and b, `v` is the operand whose lanes suit the result, and `s` the other
/// one.
struct OrientedProduct {
  ProductGroups groups;
  ProductOperand s;
  ProductOperand v;
  bool flipped = false;  ///< whether v is a
};

/// c[batch, m, n] += factor * sum over k of a[batch, m, k] * b[batch, k, n], or = if `first`. Labels of size 1 may be
/// omitted from `labels`; no size may be 0. c is of type `compute`; all arguments may be arbitrary views, also with
/// gaps. INT64 wraps.
///
/// The path depends on the sizes and on the strides of the labels:
///  - strided_product: reads operands in place, if one of them is small
///  - packed_product: packs panels from the views for a register-blocked inner loop
///  - vector_product: a matrix-vector product at the speed of memory
///  - lane_product: matrices with a contiguous batch, or small ones, with one matrix in each lane of the vectors
/// Sums of FLOAT32 are computed in FLOAT32 over at most a few thousand terms at a time.
void multiply_matrices(const LevelTable& level, DType compute, double factor, const MatrixLabels& labels,
                       std::span<const std::int64_t> sizes, const LabelView& a, const LabelView& b,
                       const MutableLabelView& c, bool first);
/// The same for many products of the same sizes and strides, whose elements lie elsewhere each time: labels are grouped
/// and the path is chosen once. Immutable, thread-safe.
class ProductPlan {
 public:
  /// The arguments as above; elements are not read.
  ProductPlan(const LevelTable& level, DType compute, const MatrixLabels& labels, std::span<const std::int64_t> sizes,
              const LabelView& a, const LabelView& b, const MutableLabelView& c);
  /// The elements of a, b and c lie as those that it was made for.
  void multiply(double factor, const void* a, const void* b, void* c, bool first) const;
  /// "packed", "in place", "by vector" or "in lanes".
  std::string_view path() const { return way_.name; }
  /// Whether operands are read as they are encoded, those that are; otherwise they must be decoded first.
  bool reads_encoded() const;

 private:
  struct Way {
    std::string_view name;
    void (*multiply)(const LevelTable& level, DType compute, double factor, const ProductGroups& groups,
                     const ProductOperand& s, const ProductOperand& v, void* result, bool first);
  };
  static Way way_of(const LevelTable& level, DType compute, const OrientedProduct& product);

  const LevelTable* level_;
  DType compute_;
  OrientedProduct product_;  // without elements
  Way way_;
};
/// Whether operands of INT64 whose values all are ones of INT8, encoded so or not, are multiplied as bytes, and the
/// same product of those. Exact.
bool multiplies_as_bytes(const MatrixLabels& labels, std::span<const std::int64_t> sizes, const LabelView& a,
                         const LabelView& b, const MutableLabelView& c);
void multiply_as_bytes(const LevelTable& level, double factor, const MatrixLabels& labels,
                       std::span<const std::int64_t> sizes, const LabelView& a, const LabelView& b,
                       const MutableLabelView& c, bool first);
/// The most bytes of workspace for such a product, or a smaller one, with any strides; see Workspace::Bound.
std::size_t product_workspace_bytes(const LevelTable& level, DType compute, const MatrixLabels& labels,
                                    std::span<const std::int64_t> sizes);

}  // namespace eindb
