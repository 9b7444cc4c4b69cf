#pragma once

#include <string>
#include <variant>
#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

using NodeId = StrongId<struct PhysicalNodeTag>;

/// Reads a stored tensor in the partition that it has on disk, or one that is attached in that of the node.
struct ScanNode {
  InputTensor tensor;
};

/// Cuts a tensor relation anew: the result has the same elements in the tiles of the node's grid.
struct RepartitionNode {
  NodeId input;
};

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
  std::vector<NodeId> inputs;
  EinSum einsum;
  LabelPartition partition;
  DType compute_dtype = DType::Float64;
  std::vector<JoinStep> steps = {};
  Labels rows = {};
};

/// Groups the join's results by the key over einsum.output and reduces each group with the join's aggregate.
/// The executor accumulates kernel calls straight into the group's tile where it can.
struct GroupByNode {
  NodeId input;  ///< a JoinNode
};

/// Hands the finished tiles of one result to whoever asked, in the partition of the node's grid. Others may read what
/// it reads.
struct SinkNode {
  NodeId input;
  std::size_t result = 0;  ///< its number, among the results of the statement
};

/// One operator and the tensor relation it gives.
struct PhysicalNode {
  std::variant<ScanNode, RepartitionNode, JoinNode, GroupByNode, SinkNode> op;
  VertexId vertex;  ///< the vertex that this node works for
  DType dtype = DType::Float64;
  TileGrid grid;  ///< of the result; for a join that a GroupByNode follows, of one group's result
};

/// Nodes `begin` to `result`, which are run once per slice (SlicedContraction) and hold one slice each: of a grid whose
/// dimension has a sliced label, that share of its parts. What they read from before `begin` is there as a whole. The
/// result's node, a join or its group-by, gives all of its grid in the end.
struct SliceLoop {
  NodeId begin;
  NodeId result;
  std::vector<SlicedLabel> labels;
  Aggregate aggregate = Aggregate::None;
  std::vector<Labels> dimensions;  ///< the labels of the grid of node begin + n

  bool contains(NodeId id) const { return begin <= id && id <= result; }
};

/// Part `part` of `parts` of a label's range.
struct WindowLabel {
  Label label;
  std::int64_t parts = 1;
  std::int64_t part = 0;

  friend bool operator==(const WindowLabel&, const WindowLabel&) = default;
};

/// The physical plan: nodes in an order in which every input comes before its readers. It has a sink for each result;
/// nobody reads one, and what is neither a sink nor read is not there.
/// The contract between optimizer/ and executor/. Immutable once built.
struct PhysicalPlan {
  LabelTable labels;
  std::vector<PhysicalNode> nodes;
  std::vector<SliceLoop> loops = {};  ///< disjoint, in the order of nodes
  /// All that is computed of the space of labels; empty: the whole. Grids are of the whole all the same, and the sink
  /// gets the tiles that lie in the window. Only a plan of scans, one join with its group-by, and the sink has one.
  std::vector<WindowLabel> window = {};

  /// How many results the plan has: the number of its sinks.
  std::size_t result_count() const;
  /// The sink of a result.
  const PhysicalNode& sink(std::size_t result) const;
  /// The loop that runs the node, or null.
  const SliceLoop* loop_of(NodeId id) const;
  const PhysicalNode& node(NodeId id) const { return nodes[id.index()]; }
  /// The part of the label's range that is computed: part 0 of 1 unless the window says otherwise.
  WindowLabel window_of(Label label) const;
};

/// Inputs of a node, in operand order.
std::vector<NodeId> inputs_of(const PhysicalNode& node);
/// "scan", "join", ...
std::string operator_name(const PhysicalNode& node);

}  // namespace eindb
