#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "executor/join_input.hpp"
#include "executor/kernels/cell_kernel.hpp"
#include "executor/memory_budget.hpp"
#include "plan/join_node.hpp"

namespace eindb {

/// The kernel of a join that reads some operands as cells. Which points it may leave out depends on the values: a zero
/// times a NaN or an infinity is NaN, and so is one divided by zero, so that where an operand has these the cells of
/// the others do not suffice (tensor/cell_form). Thread-safe.
class CellJoin {
 public:
  CellJoin(const JoinNode& join, const LabelTable& labels, const std::vector<JoinInput>& inputs);

  /// How a call is computed from the cells of its operands, of whose values this is known; null if it cannot be.
  std::shared_ptr<const CellKernel> kernel_for(std::span<const OperandFacts> facts) const;
  /// Whether it must be known of operand n if it is nowhere zero.
  bool asks_for_zeros(std::size_t n) const { return asks_for_zeros_[n]; }
  /// That for operands with finite values, which is there.
  const CellKernel& kernel() const { return *kernels_.begin()->second; }
  bool is_of_cells(std::size_t operand) const { return of_cells_[operand]; }

 private:
  std::shared_ptr<const CellKernel> make(CellPattern pattern) const;
  std::shared_ptr<const CellKernel> find(std::span<const OperandFacts> facts) const;

  const JoinNode& join_;
  const LabelTable& labels_;
  std::vector<DType> types_;
  std::vector<bool> of_cells_;
  std::vector<bool> asks_for_zeros_;
  std::map<CellPattern, std::shared_ptr<const CellKernel>> kernels_;
  // The facts of the last call, and the kernel found for them: the next call usually has the same facts.
  mutable std::mutex mutex_;  // guards both
  mutable std::vector<OperandFacts> last_facts_;
  mutable std::shared_ptr<const CellKernel> last_kernel_;
};

}  // namespace eindb
