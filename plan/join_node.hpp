#pragma once

#include "plan/plan_operator.hpp"

namespace eindb {

/// One EinSum of a fused chain, without epilogue. Operand n is input inputs[n] of the join if that is less than their
/// number; otherwise the result of an earlier step, counted from there.
struct JoinStep {
  VertexId vertex;
  std::vector<std::size_t> inputs;
  EinSum einsum;
  DType compute_dtype = DType::Float64;  ///< of its result, too
};

/// The join of the tensor-relational algebra with its kernel: one kernel call per key over all labels of the
/// vertex. Where labels are aggregated the kernel aggregates inside its tiles; if such a label is also cut, a
/// GroupByNode follows. Input n is cut by partition.project(einsum.inputs[n]).
///
/// A join with `steps` computes a fused chain: a kernel call runs all of them, strip by strip of `rows`, and no other
/// label is cut. Its EinSum then says which labels its inputs and its result have; the expression says no more than
/// that nothing follows from an input of zeros.
struct JoinNode {
  static constexpr auto kRole = OperatorRole::Kernel;

  std::vector<NodeId> inputs;
  EinSum einsum;
  LabelPartition partition;
  DType compute_dtype = DType::Float64;
  std::vector<JoinStep> steps = {};
  Labels rows = {};

  std::string name() const { return steps.empty() ? "join" : "fused join"; }
  const std::vector<NodeId>& reads() const { return inputs; }
  void check(const OperatorView& view, const Checker& check) const;
  /// fused: the vertices that a fused join computes, in the order in which it does.
  DescriptionFields describe(const EinGraph& graph) const;
  const LabelPartition& label_partition() const { return partition; }
  DType working_type() const { return compute_dtype; }
  /// Whether an aggregated label is cut.
  bool is_partial() const;
  /// One loop per label, those of the result first.
  CallLoops loops(const OperatorView& view) const;
  /// In the expressions of all that it computes.
  void substitute(const Substitution& values);
  std::size_t held_bytes() const;
};

}  // namespace eindb
