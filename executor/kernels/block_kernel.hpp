#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/kernels/label_view.hpp"
#include "executor/kernels/level_table.hpp"
#include "executor/kernels/user_recurrence.hpp"
#include "tensor/einsum.hpp"
#include "tensor/partition.hpp"

namespace eindb {

/// Computes a function of whole vectors or matrices (tensor/block_function), for one batch index after the other: the
/// values of the core labels are copied together where they do not lie so, and the result is copied to its place.
///
/// Immutable, thread-safe.
class BlockKernel {
 public:
  BlockKernel(const EinSum& einsum, const LabelTable& table, std::vector<DType> operand_types, DType compute);

  /// See Kernel::run; a call has all indices of the core labels and is the first of its cells. Throws Error{Value} for
  /// matrices and lines of values that the function is not defined for, with their batch indices.
  void run(const LevelTable& level, std::span<const LabelView> operands, std::span<const PartRange> ranges,
           const MutableLabelView& result) const;

  /// "sort", "fft" and the like.
  std::string describe() const { return std::string(name_of(block_.op)); }
  /// The most bytes beside operands and result for a call on these ranges.
  std::size_t workspace_bytes(const LevelTable& level, std::span<const std::int64_t> label_sizes) const;
  /// The most bytes that a thread takes which helps with such a call (executor/kernels/lent_threads); 0 for one that
  /// nobody can help with, or that is too small for it.
  std::size_t lent_bytes(const LevelTable& level, std::span<const std::int64_t> label_sizes) const;

 private:
  class Call;
  bool is_real_factorisation() const;
  std::size_t cells(const std::vector<std::size_t>& places, std::span<const std::int64_t> label_sizes) const;
  std::vector<std::size_t> places_of(const Labels& labels) const;
  std::string text_of(const std::vector<std::int64_t>& place) const;
  [[noreturn]] void refuse_unique(std::int64_t found, std::int64_t room, const std::vector<std::int64_t>& place) const;
  [[noreturn]] void refuse(const std::string& failure, const std::vector<std::int64_t>& place) const;

  BlockFunction block_;
  Labels labels_;
  std::vector<std::size_t> batch_;  // the places of batch labels, in the order of the output
  std::vector<std::string> batch_names_;
  std::vector<std::vector<std::size_t>> cores_;  // of the core labels of each operand
  std::vector<std::size_t> result_core_;
  std::string result_name_;  // of the first core label of the result, if it has one
  std::vector<DType> operand_types_;
  DType compute_;
  std::optional<RecurrenceFolds> folds_;  // of a user's recurrence
};

}  // namespace eindb
