#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "plan/concatenation_node.hpp"
#include "plan/ein_graph.hpp"
#include "plan/group_by_node.hpp"
#include "plan/join_node.hpp"
#include "plan/repartition_node.hpp"
#include "plan/scan_node.hpp"
#include "plan/sink_node.hpp"

namespace eindb {

/// The list of all operators; each describes itself (plan/plan_operator).
using FragmentOperator = std::variant<ScanNode, RepartitionNode, ConcatenationNode, JoinNode, GroupByNode, SinkNode>;

/// One operator and the tensor relation that it produces. The functions delegate to the operator.
struct FragmentNode {
  FragmentOperator op;
  VertexId vertex;  ///< the vertex that this node serves
  DType dtype = DType::Float64;
  TileGrid grid;  ///< of the result; for a join before a GroupByNode, of one group's result
  /// Set where its tiles are of cells (Tile::is_of_cells): about how many cells they have together.
  std::optional<double> cells = {};

  OperatorRole role() const;
  /// The tensor that a Source reads; null for others.
  const InputTensor* stored() const;
  /// The index of the result that a Delivery serves; nullopt for others.
  std::optional<std::size_t> result_number() const;
  /// The partition vector of its label space; null if it has none.
  const LabelPartition* label_partition() const;
  /// The bytes of its tiles relative to those of dense ones; 1 unless they are of cells.
  double stored_share() const;
  /// The type in which it accumulates; `dtype` if it does not accumulate.
  DType working_type() const;
  /// Whether a Completion must follow.
  bool is_partial() const;
  /// Whether it has tasks; they include those of its Completion.
  bool has_tasks() const { return role() == OperatorRole::Layout || role() == OperatorRole::Kernel; }
  /// The operator's own fields for EXPLAIN.
  DescriptionFields describe(const EinGraph& graph) const;
  /// Replaces its parameters by their values.
  void substitute(const Substitution& values);
  /// Approximate heap bytes.
  std::size_t held_bytes() const;
};

/// The nodes `begin` to `result`, which run once per slice (SlicedContraction) and hold one slice each: for a grid
/// dimension with a sliced label, that share of its parts. Inputs from before `begin` are whole. The node of the
/// result, a join or its group-by, produces its whole grid in the end.
struct SliceLoop {
  NodeId begin;
  NodeId result;
  std::vector<SlicedLabel> labels;
  Aggregate aggregate = Aggregate::None;
  std::vector<Labels> dimensions;  ///< entry n: the labels of the grid of node begin + n

  bool contains(NodeId id) const { return begin <= id && id <= result; }
};

/// Part `part` of `parts` of a label's range.
struct WindowLabel {
  Label label;
  std::int64_t parts = 1;
  std::int64_t part = 0;

  friend bool operator==(const WindowLabel&, const WindowLabel&) = default;
};

/// Below this number of points in the label spaces of a plan's vertices one thread computes it alone: another one would
/// come too late.
inline constexpr double kPointsOfOneThread = 1 << 17;

/// The part of a plan that a rank computes without others: nodes in an order in which inputs precede their readers. It
/// has a sink for each result; no node reads a sink, and every other node has a reader. It runs as one graph of tasks.
/// Immutable once built.
struct Fragment {
  LabelTable labels;
  std::vector<FragmentNode> nodes;
  std::vector<SliceLoop> loops = {};  ///< disjoint, in the order of nodes
  /// The part of the label space that is computed; empty: all of it. Grids still describe the whole, and the sink gets
  /// the tiles within the window. Only a plan of scans, one join with its group-by, and the sink has a window.
  std::vector<WindowLabel> window = {};
  /// Nodes after which a run may end, so that what follows is planned again: all before and including them is complete
  /// before anything behind them begins. Ascending; they compute tiles of cells that are no result, outside of loops.
  std::vector<NodeId> checkpoints = {};

  /// The number of results, which is the number of sinks.
  std::size_t result_count() const;
  /// The sink of a result.
  const FragmentNode& sink(std::size_t result) const;
  /// The loop that runs the node, or null.
  const SliceLoop* loop_of(NodeId id) const;
  const FragmentNode& node(NodeId id) const { return nodes[id.index()]; }
  /// The node whose tasks produce the node's tiles: for a Completion its input, otherwise the node itself.
  NodeId worker_of(NodeId id) const;
  /// The node's operator's view of the plan.
  OperatorView view(NodeId id) const;
  /// The part of the label's range that is computed: part 0 of 1 unless the window restricts it.
  WindowLabel window_of(Label label) const;
};

/// Inputs of a node, in operand order.
std::vector<NodeId> inputs_of(const FragmentNode& node);
/// "scan", "join", ...
std::string operator_name(const FragmentNode& node);
/// The loops in which the node runs its calls; empty if it has no tasks.
CallLoops call_loops(const Fragment& plan, NodeId id);

}  // namespace eindb
