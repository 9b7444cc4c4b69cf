#pragma once

#include <span>
#include <vector>

#include "executor/kernels/kernel.hpp"

namespace eindb {

/// One EinSum of a chain, without epilogue. Operand n is operand inputs[n] of the chain if that is less than their
/// number; otherwise the result of an earlier step, counted from there. Its result has the type it is computed in.
struct FusedStep {
  EinSum einsum;
  std::vector<std::size_t> inputs;
  DType compute = DType::Float64;
};

/// Evaluates several EinSums on tiles in one call, strip by strip of rows: labels that the head of every step has. What
/// one step makes for another stays in memory of a strip's size, some hundred kilobytes, which the caches hold.
///
/// Example: M[i] = MAX(X[i,j]), E[i,j] = EXP(X[i,j] - M[i]), T[i] = SUM(E[i,j]), Z[i,j] = E[i,j] / T[i] with 4096
/// values j in FLOAT32 works on 23 rows i at a time.
///
/// Immutable after construction, thread-safe.
class FusedKernel {
 public:
  /// `chain_labels` are those that calls have ranges for; `rows` those of them that strips cut, in the order in which
  /// they are to be cut; `operand_labels` and `operand_types` those of the chain's operands.
  FusedKernel(std::vector<FusedStep> steps, Labels chain_labels, const Labels& rows, std::vector<Labels> operand_labels,
              const std::vector<DType>& operand_types, const LabelTable& labels,
              const LevelTable& level = preferred_level_table());

  /// `operands[n]` is a tile over operand_labels[n], `result` one over the head of the last step, in the type that it
  /// is computed in, for the given ranges of the chain's labels, none of which is empty. Every element is written.
  void run(std::span<const Tile* const> operands, std::span<const PartRange> ranges, Tile& result) const;
  /// Bytes beside operands and result that a call takes at most for ranges of these sizes, one per label of the chain:
  /// a strip, and the workspace of the steps' kernels on strips.
  std::size_t workspace_bytes(std::span<const std::int64_t> label_sizes) const;

 private:
  using Ranges = std::vector<PartRange>;
  class Run;

  std::size_t place_of(Label label) const;
  std::vector<std::size_t> places_of(const Labels& labels) const;
  /// How many indices of each of the chain's labels a strip has.
  std::vector<std::int64_t> strip(std::span<const std::int64_t> label_sizes) const;
  /// Of what a step makes, for a strip.
  std::int64_t bytes_in_strip(std::size_t step, std::span<const std::int64_t> strip) const;

  std::vector<FusedStep> steps_;
  Labels labels_;
  std::vector<std::size_t> rows_;  // as places in labels_
  std::vector<Labels> operand_labels_;
  std::vector<Kernel> kernels_;                        // of the steps
  std::vector<std::vector<std::size_t>> step_places_;  // of the labels of each step in labels_
};

}  // namespace eindb
