#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "executor/kernels/label_view.hpp"
#include "executor/kernels/level_table.hpp"
#include "executor/kernels/scratch.hpp"
#include "tensor/contraction_form.hpp"

namespace eindb {

/// The labels of a call by their roles, as places among the labels of the EinSum. Labels of one value are left out.
struct PairGroups {
  using Places = std::vector<std::size_t>;

  Places batch;
  Places rows;
  Places columns;
  Places depth;
};

/// Sorted by the strides of the result; summed labels by those of the left operand.
PairGroups pair_groups(const std::vector<ContractionRole>& roles, const std::vector<std::int64_t>& sizes,
                       const std::vector<std::int64_t>& left, const std::vector<std::int64_t>& result);

/// A matrix of two groups of labels for each index of the batch labels, with the memory that it was packed into.
struct PairMatrix {
  DType dtype = DType::Float64;
  std::byte* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
  std::vector<std::int64_t> batch;  ///< strides
  std::shared_ptr<Scratch> memory;  ///< null for a matrix that lies in an operand
};

/// The operands and the result of a call as batches of matrices: in place where the labels of a group nest, and else as
/// copies. Refers to its arguments. Thread-safe.
class PairMatrices {
 public:
  using Places = PairGroups::Places;
  using Strides = std::vector<std::int64_t>;

  /// `sizes`: of each label of the EinSum. `converts`: operands of other types than `compute` are copied.
  PairMatrices(const LevelTable& level, DType compute, const PairGroups& groups, const Strides& sizes, bool converts);

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t depth() const { return depth_; }
  std::int64_t batch() const { return batch_; }

  PairMatrix left(const LabelView& view) const { return operand(view, groups_.rows); }
  PairMatrix right(const LabelView& view) const { return operand(view, groups_.columns); }

  /// An operand of the labels of the result.
  PairMatrix beside_result(const LabelView& view) const;

  /// The result, which a copy holds until write_result() where it is no matrix in place, or of another type than
  /// `compute`. Unless `first`, the copy begins with the present values.
  PairMatrix result(const MutableLabelView& view, bool first) const;
  void write_result(const MutableLabelView& view, const PairMatrix& result) const;

  /// The bytes of all copies for such operands, and for such a result.
  std::int64_t copied_bytes(const LabelView& left, const LabelView& right) const;
  std::int64_t copied_bytes(const MutableLabelView& result) const;

  /// The first element of matrix number `batch`.
  std::byte* at(const PairMatrix& matrix, std::int64_t batch) const;

 private:
  std::int64_t count(const Places& places) const;
  std::optional<std::int64_t> fused(const Places& order, const Strides& strides) const;
  template <class View>
  std::optional<PairMatrix> in_place(const View& view, const Places& rows, const Places& columns) const;
  std::int64_t bytes_of(DType dtype, const Places& rows, const Places& columns) const;
  PairMatrix scratch(DType dtype, const Places& rows, const Places& columns) const;
  bool lies_in_place(const LabelView& operand, const Places& rows) const;
  PairMatrix operand(const LabelView& view, const Places& rows) const;
  MutableLabelView view_of(const PairMatrix& matrix, const Places& rows, const Places& columns) const;
  Places places(const Places& rows, const Places& columns) const;
  void copy(const MutableLabelView& to, const LabelView& from, const Places& places) const;

  const LevelTable& level_;
  DType compute_;
  const PairGroups& groups_;
  const Strides& sizes_;
  bool converts_;
  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t depth_;
  std::int64_t batch_;
};

}  // namespace eindb
