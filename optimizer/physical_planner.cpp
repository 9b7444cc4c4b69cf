#include "optimizer/physical_planner.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "optimizer/dead_vertices.hpp"

namespace eindb {
namespace {

class Planner {
 public:
  Planner(const EinGraph& graph, const Labelling& labelling) : graph_(graph), labelling_(labelling) {
    plan_.labels = graph.labels();
    result_.resize(graph.size());
  }

  PhysicalPlan run(const std::optional<Partition>& output_partition) {
    const auto needed = reached_by_output(graph_);
    for (std::size_t v = 0; v < graph_.size(); ++v)
      if (needed[v]) result_[v] = graph_.vertex(VertexId(v)).is_input() ? scan(VertexId(v)) : compute(VertexId(v));
    auto last = result_[graph_.output().index()];
    if (output_partition) last = cut(last, *output_partition);
    const auto finished = plan_.node(last);
    add({SinkNode{last}, graph_.output(), finished.dtype, finished.grid});
    return std::move(plan_);
  }

 private:
  NodeId add(PhysicalNode node) {
    plan_.nodes.push_back(std::move(node));
    return NodeId(plan_.nodes.size() - 1);
  }

  NodeId scan(VertexId v) {
    const auto& tensor = *graph_.vertex(v).stored;
    return add({ScanNode{tensor}, v, tensor.dtype, tensor.grid});
  }

  // The tensor of `node` in the wanted partition.
  NodeId cut(NodeId node, const Partition& wanted) {
    if (can_be_read_in_any_partition(plan_.node(node))) return rescan(node, wanted);
    const auto source = plan_.node(node);
    if (source.grid.partition() == wanted) return node;
    const auto [known, is_new] = repartitions_.try_emplace({node, wanted});
    if (is_new)
      known->second = add({RepartitionNode{node}, source.vertex, source.dtype, {source.grid.shape(), wanted}});
    return known->second;
  }

  static bool can_be_read_in_any_partition(const PhysicalNode& node) {
    const auto* scan = std::get_if<ScanNode>(&node.op);
    return scan != nullptr && scan->tensor.attached && !scan->tensor.selection;
  }

  // The first reader gets the scan itself, cut as it wants; one that wants another partition a scan of its own.
  NodeId rescan(NodeId first, const Partition& wanted) {
    const auto [known, is_new] = repartitions_.try_emplace({first, wanted}, first);
    if (!is_new) return known->second;
    auto node = plan_.node(first);
    node.grid = TileGrid(node.grid.shape(), wanted);
    std::get<ScanNode>(node.op).tensor.grid = node.grid;
    if (read_scans_.insert(first).second) plan_.nodes[first.index()] = std::move(node);
    else known->second = add(std::move(node));
    return known->second;
  }

  NodeId compute(VertexId v) {
    const auto& vertex = graph_.vertex(v);
    const auto& partition = labelling_.vertices[v.index()].partition;
    JoinNode join{{}, vertex.einsum, partition, vertex.compute_dtype};
    for (std::size_t n = 0; n < vertex.inputs.size(); ++n)
      join.inputs.push_back(cut(result_[vertex.inputs[n].index()], partition.project(vertex.einsum.inputs[n])));
    const TileGrid grid(vertex.bound, partition.project(vertex.einsum.output));
    const auto joined = add({std::move(join), v, vertex.dtype, grid});
    const auto aggregated = partition.project(vertex.einsum.aggregated);
    const bool grouped = std::any_of(aggregated.begin(), aggregated.end(), [](std::int64_t d) { return d > 1; });
    return grouped ? add({GroupByNode{joined}, v, vertex.dtype, grid}) : joined;
  }

  const EinGraph& graph_;
  const Labelling& labelling_;
  PhysicalPlan plan_;
  std::vector<NodeId> result_;  // of each vertex
  std::map<std::pair<NodeId, Partition>, NodeId> repartitions_;
  std::set<NodeId> read_scans_;  // of attached tensors
};

}  // namespace

PhysicalPlan plan_physically(const EinGraph& graph, const Labelling& labelling,
                             const std::optional<Partition>& output_partition) {
  return Planner(graph, labelling).run(output_partition);
}

}  // namespace eindb
