#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "plan/ein_graph.hpp"
#include "plan/group_by_node.hpp"
#include "plan/join_node.hpp"
#include "plan/repartition_node.hpp"
#include "plan/scan_node.hpp"
#include "plan/sink_node.hpp"

namespace eindb {

/// The list of all operators; each describes itself (plan/plan_operator).
using PhysicalOperator = std::variant<ScanNode, RepartitionNode, JoinNode, GroupByNode, SinkNode>;

/// One operator and the tensor relation it gives. Its functions ask the operator, whichever it is.
struct PhysicalNode {
  PhysicalOperator op;
  VertexId vertex;  ///< the vertex that this node works for
  DType dtype = DType::Float64;
  TileGrid grid;  ///< of the result; for a join that a GroupByNode follows, of one group's result

  OperatorRole role() const;
  /// The tensor that a Source reads; null for others.
  const InputTensor* stored() const;
  /// The number of the result that a Delivery serves; nothing for others.
  std::optional<std::size_t> result_number() const;
  /// How it cuts its space of labels; null without one.
  const LabelPartition* label_partition() const;
  /// The type in which it adds up: `dtype` where it does not, or does so in that.
  DType working_type() const;
  /// Whether a Completion has to read it.
  bool is_partial() const;
  /// Whether it has tasks, with those of a Completion that reads it.
  bool has_tasks() const { return role() == OperatorRole::Layout || role() == OperatorRole::Kernel; }
  /// What it alone has to say of itself.
  DescriptionFields describe(const EinGraph& graph) const;
  /// Gives its parameters their values.
  void substitute(const Substitution& values);
  /// On the heap, about.
  std::size_t held_bytes() const;
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
  /// The node whose tasks give the node's tiles: the one that a Completion reads, and otherwise the node itself.
  NodeId worker_of(NodeId id) const;
  /// What the node's operator sees of the plan.
  OperatorView view(NodeId id) const;
  /// The part of the label's range that is computed: part 0 of 1 unless the window says otherwise.
  WindowLabel window_of(Label label) const;
};

/// Inputs of a node, in operand order.
std::vector<NodeId> inputs_of(const PhysicalNode& node);
/// "scan", "join", ...
std::string operator_name(const PhysicalNode& node);
/// The loops in which the node runs its calls; none without tasks.
CallLoops call_loops(const PhysicalPlan& plan, NodeId id);

}  // namespace eindb
