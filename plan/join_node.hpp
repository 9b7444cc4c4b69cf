#pragma once

#include <vector>

#include "plan/halo.hpp"
#include "plan/plan_operator.hpp"

namespace eindb {

/// One EinSum of a fused chain, without epilogue. If inputs[n] is less than the join's number of inputs, operand n is
/// that input of the join; otherwise it is the result of an earlier step, counted from there.
struct JoinStep {
  VertexId vertex;
  std::vector<std::size_t> inputs;
  EinSum einsum;
  DType compute_dtype = DType::Float64;  ///< of its result too
};

/// The join of the tensor-relational algebra with its kernel: one kernel call per key over all labels of the vertex. If
/// labels are aggregated, the kernel aggregates within its tiles; if such a label is also cut, a GroupByNode follows.
/// Input n is cut by partition.project(einsum.inputs[n]), unless it is one of `in_parts`: then it is cut more coarsely,
/// and a call reads its part of a tile where it lies. A label with a halo is not cut itself: operands that have it are
/// cut as its leader is, into parts that overlap, and a call has the indices of its part.
///
/// A join with `steps` computes a fused chain: a kernel call runs all steps, strip by strip of `rows`, and no other
/// label is cut. Its EinSum then only has the labels of inputs and result, and an expression that is not evaluated and
/// that absent tiles do not make zero (tensor/annihilation).
struct JoinNode {
  static constexpr auto kRole = OperatorRole::Kernel;

  std::vector<NodeId> inputs;
  EinSum einsum;
  LabelPartition partition;
  DType compute_dtype = DType::Float64;
  std::vector<JoinStep> steps = {};
  Labels rows = {};
  std::vector<std::size_t> in_parts = {};  ///< ascending: inputs that are cut more coarsely than the join
  std::vector<Halo> halos = {};            ///< of distinct labels, no two of one leader in an operand

  std::string name() const { return steps.empty() ? "join" : "fused join"; }
  const std::vector<NodeId>& reads() const { return inputs; }
  void check(const OperatorView& view, const Checker& check) const;
  /// The grid of an input that is not read in parts.
  TileGrid operand_grid(std::size_t input, const LabelTable& labels) const;
  /// The labels that cut the dimensions of an input: its own, or leaders of those.
  Labels cutting_labels(std::size_t input) const { return eindb::cutting_labels(einsum.inputs[input], halos); }
  /// Finds the halos that it may have; `sources` has a number for the tensor of each input.
  HaloFinder halo_finder(const std::vector<std::size_t>& sources) const;
  /// Field "fused": the vertices that a fused join computes, in order. Field "in_parts": the operands of whose
  /// tiles calls read parts, by number. Field
  /// "halos": the leaders of labels with a halo.
  DescriptionFields describe(const EinGraph& graph) const;
  const LabelPartition& label_partition() const { return partition; }
  DType working_type() const { return compute_dtype; }
  /// Whether an aggregated label is cut.
  bool is_partial() const;
  /// Whether an input is one of `in_parts`.
  bool reads_parts_of(std::size_t input) const;
  /// Whether input n may be cut like this grid, more coarsely than the join, so that each call reads a part of one
  /// tile: not by kernels of fused chains, by those that look for cells at computed indices, and on diagonals.
  bool may_read_parts_of(std::size_t input, const TileGrid& grid) const;
  /// One loop per label, labels of the result first.
  CallLoops loops(const OperatorView& view) const;
  /// Replaces parameters in all its expressions.
  void substitute(const Substitution& values);
  std::size_t held_bytes() const;
};

}  // namespace eindb
