#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/kernels/kernel.hpp"
#include "executor/kernels/window_kernel.hpp"

namespace eindb {

/// One EinSum of a chain, without epilogue. If inputs[n] is less than the number of the chain's operands, it is an
/// operand of the chain; otherwise it is the result of an earlier step, counted from there. The step's result has its
/// compute type.
struct FusedStep {
  EinSum einsum;
  std::vector<std::size_t> inputs;
  DType compute = DType::Float64;
};

/// Evaluates several EinSums on tiles in one call, one strip of rows at a time. Rows are labels that the head of every
/// step has, but for windows (tensor/access_form), which are not computed: steps that have one as an operand read the
/// window's operand. Intermediate results have the size of a strip, some hundred kilobytes, so they stay in the caches.
/// The join whose values only a search for an index reads is computed by the search (with_join_taken_in in
/// tensor/kernel_choice).
///
/// Example: M[i] = MAX(X[i,j]), E[i,j] = EXP(X[i,j] - M[i]), T[i] = SUM(E[i,j]), Z[i,j] = E[i,j] / T[i] with 4096
/// values j in FLOAT32 works on 23 rows i at a time.
///
/// Immutable after construction, thread-safe.
class FusedKernel {
 public:
  /// `chain_labels`: the labels that calls have ranges for; `rows`: those of them that strips cut, in the order of
  /// cutting; `operand_labels` and `operand_types`: of the chain's operands.
  FusedKernel(std::vector<FusedStep> steps, Labels chain_labels, const Labels& rows, std::vector<Labels> operand_labels,
              const std::vector<DType>& operand_types, const LabelTable& labels,
              const LevelTable& level = preferred_level_table());

  /// `operands[n]` is a tile over operand_labels[n]; `result` is a tile over the head of the last step, in its compute
  /// type. `ranges` are those of the chain's labels, none of them empty. Every element of the result is written.
  void run(std::span<const Tile* const> operands, std::span<const PartRange> ranges, Tile& result) const;
  /// The most bytes beside operands and result for a call with ranges of these sizes, one per label of the chain: a
  /// strip, and the workspace of the steps' kernels on strips.
  std::size_t workspace_bytes(std::span<const std::int64_t> label_sizes) const;
  /// How the kernel of a step computes a strip of such a call (Kernel::describe), with ", in strips" if there are
  /// values between the operands and the result.
  std::string describe(std::size_t step, std::span<const std::int64_t> label_sizes) const;

 private:
  using Ranges = std::vector<PartRange>;
  class Run;

  /// Whether strips of these rows divide the operand, along other dimensions than its last.
  bool is_cut_into_strips(std::size_t operand, const Labels& rows) const;
  /// The number of steps that have it as an operand.
  std::ptrdiff_t readers_of(std::size_t operand) const;
  std::size_t place_of(Label label) const;
  std::vector<std::size_t> places_of(const Labels& labels) const;
  /// The number of indices of each of the chain's labels in a strip.
  std::vector<std::int64_t> strip(std::span<const std::int64_t> label_sizes) const;
  /// The bytes of a step's result for a strip; of a window, those of the copy of its operand.
  std::int64_t bytes_in_strip(std::size_t step, std::span<const std::int64_t> strip) const;
  /// The part of a strip's sizes that a step has labels for.
  std::vector<std::int64_t> sizes_of_step(std::size_t step, std::span<const std::int64_t> strip) const;

  std::vector<FusedStep> steps_;      // without joins that searches have taken in
  std::vector<std::size_t> step_of_;  // for each step that was given, the one that computes it
  Labels labels_;
  std::vector<std::size_t> rows_;  // as positions in labels_
  std::vector<Labels> operand_labels_;
  std::vector<std::size_t> operand_sizes_;             // of an element, in bytes
  std::vector<std::size_t> read_again_;                // operands that several steps read
  std::vector<Kernel> kernels_;                        // by step
  std::vector<std::optional<WindowKernel>> windows_;   // by step
  std::vector<std::vector<std::size_t>> step_places_;  // positions of each step's labels in labels_
};

}  // namespace eindb
