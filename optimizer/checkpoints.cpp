#include "optimizer/checkpoints.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "optimizer/partitions/cell_work.hpp"
#include "tensor/cell_estimate.hpp"

namespace eindb {
namespace {

double seconds_of(const EinGraph& graph, VertexId id, const CalibratedModel& model) {
  const auto shape = shape_of(graph, graph.vertex(id));
  return model.join(shape, Partition(shape.extents.size(), 1));
}

class Checkpoints {
 public:
  Checkpoints(const EinGraph& graph, const CalibratedModel& model) : graph_(graph), model_(model) {}

  bool is_uncertain(const Vertex& vertex) const {
    const auto cells = cells_of_inputs(graph_, vertex);
    if (pattern_of(graph_, vertex, cells) != CellPattern::Intersection) return false;
    Labels seen;
    for (std::size_t n = 0; n < cells.size(); ++n) {
      if (!cells[n]) continue;
      const auto& labels = vertex.einsum.inputs[n];
      if (std::any_of(labels.begin(), labels.end(), [&](Label label) { return contains(seen, label); })) return true;
      append_distinct(seen, labels);
    }
    return false;
  }

  // Whether what depends on the vertex takes long, with the cells that are expected or with the most that there can be.
  bool matters(VertexId id) const {
    double expected = 0;
    std::vector<bool> depends(graph_.size(), false);
    depends[id.index()] = true;
    auto most = graph_;
    most.hold_as_cells(id, most_cells_of(graph_.vertex(id)));
    double at_most = 0;
    for (auto v = id.index() + 1; v < graph_.size(); ++v) {
      const auto& inputs = graph_.vertex(VertexId(v)).inputs;
      depends[v] = std::any_of(inputs.begin(), inputs.end(), [&](VertexId input) { return depends[input.index()]; });
      if (!depends[v]) continue;
      expected += seconds(graph_, VertexId(v));
      if (std::find(inputs.begin(), inputs.end(), id) != inputs.end()) at_most += seconds(most, VertexId(v));
    }
    return std::max(expected, at_most) >= kLeastSecondsLeft;
  }

 private:
  CellEstimate most_cells_of(const Vertex& vertex) const {
    const auto cells = cells_of_inputs(graph_, vertex);
    const auto pattern = pattern_of(graph_, vertex, cells);
    CHECK(pattern.has_value() && vertex.cells.has_value(), "a checkpoint computes cells from cells");
    auto out = *vertex.cells;
    out.cells = std::max(out.cells, std::min(most_cell_steps(vertex.einsum, graph_.labels(), cells, *pattern),
                                             static_cast<double>(vertex.bound.element_count())));
    return out;
  }

  double seconds(const EinGraph& graph, VertexId id) const { return seconds_of(graph, id, model_); }

  const EinGraph& graph_;
  const CalibratedModel& model_;
};

}  // namespace

std::vector<NodeId> choose_checkpoints(const EinGraph& graph, const Fragment& plan, const CalibratedModel& model,
                                       bool always) {
  std::vector<NodeId> chosen;
  // Values that are compared are computed in the same order, which another plan need not keep.
  const auto is_compared = [](const Vertex& vertex) { return vertex.is_compared; };
  if (std::any_of(graph.vertices().begin(), graph.vertices().end(), is_compared)) return chosen;
  const Checkpoints checkpoints(graph, model);
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    const auto& node = plan.nodes[n];
    if (node.role() != OperatorRole::Kernel || !node.cells || graph.is_output(node.vertex)) continue;
    if (plan.loop_of(NodeId(n)) != nullptr || !plan.window.empty()) continue;
    if (always || (checkpoints.is_uncertain(graph.vertex(node.vertex)) && checkpoints.matters(node.vertex)))
      chosen.emplace_back(n);
  }
  return chosen;
}

double seconds_left(const EinGraph& graph, const Fragment& plan, NodeId checkpoint, double cells,
                    const CalibratedModel& model) {
  const auto vertex = plan.node(checkpoint).vertex;
  CHECK(graph.vertex(vertex).cells.has_value(), "a checkpoint has cells");
  auto found = graph;
  found.hold_as_cells(vertex, CellEstimate{cells, {}});
  std::vector<bool> is_computed(graph.size(), false);
  for (std::size_t n = 0; n <= checkpoint.index(); ++n)
    if (plan.nodes[n].role() == OperatorRole::Kernel) is_computed[plan.nodes[n].vertex.index()] = true;
  double seconds = 0;
  for (std::size_t v = 0; v < graph.size(); ++v)
    if (!is_computed[v] && !graph.vertex(VertexId(v)).is_input()) seconds += seconds_of(found, VertexId(v), model);
  return seconds;
}

}  // namespace eindb
