#include "optimizer/cell_joins.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "optimizer/partitions/cell_work.hpp"
#include "optimizer/rewrites/joined_factors.hpp"
#include "optimizer/rewrites/vertex_merger.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"
#include "tensor/access_form.hpp"

namespace eindb {
namespace {

constexpr std::size_t kMostOperands = 8;

bool reads_cells(const EinGraph& graph, const Vertex& vertex) {
  return std::any_of(vertex.inputs.begin(), vertex.inputs.end(),
                     [&](VertexId input) { return graph.vertex(input).cells.has_value(); });
}

class CellJoins {
 public:
  CellJoins(const EinGraph& graph, const CalibratedModel& model) : graph_(graph), model_(model) {}

  EinGraph run() {
    bool merges = true;
    while (merges) {
      merges = false;
      for (std::size_t v = 0; v < graph_.size() && !merges; ++v) merges = merge_an_operand(VertexId(v));
    }
    return std::move(graph_);
  }

 private:
  bool merge_an_operand(VertexId id) {
    const auto& vertex = graph_.vertex(id);
    if (vertex.is_input()) return false;
    for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
      if (!may_merge(vertex, n)) continue;
      auto merged = with_operand(id, n);
      if (!merged) continue;
      graph_ = *std::move(merged);
      return true;
    }
    return false;
  }

  bool may_merge(const Vertex& vertex, std::size_t n) const {
    const auto id = vertex.inputs[n];
    const auto& part = graph_.vertex(id);
    if (part.is_input() || !is_plain(part) || part.dtype != vertex.compute_dtype || graph_.is_output(id)) return false;
    if (graph_.use_counts()[id.index()] != 1 || occurrences(*vertex.einsum.expression, n) != 1) return false;
    if (vertex.inputs.size() + part.inputs.size() > kMostOperands + 1) return false;
    if (!reads_cells(graph_, vertex) && !reads_cells(graph_, part)) return false;
    if (access_form(part.einsum) || access_form(vertex.einsum)) return false;  // they have kernels of their own
    const auto aggregate = part.einsum.aggregate;
    if (aggregate == Aggregate::None) return true;
    // Its epilogue would be of the aggregate, which the vertex does not have.
    if (vertex.einsum.aggregate == Aggregate::None && vertex.einsum.epilogue != nullptr) return false;
    return distributes(vertex, n, aggregate);
  }

  // The graph with the operand taken in, if that is faster.
  std::optional<EinGraph> with_operand(VertexId id, std::size_t n) const {
    const auto& vertex = graph_.vertex(id);
    const auto part = vertex.inputs[n];
    VertexMerger merger(graph_);
    auto merged = unite_operands(merger.with_operand_taken_in(id.index(), n));
    if (merged.einsum.aggregate == Aggregate::None) merged.einsum.aggregate = graph_.vertex(part).einsum.aggregate;
    const auto before = seconds(graph_, part) + seconds(graph_, id);
    merger.replace(id.index(), std::move(merged));
    auto tried = merger.result();
    // One vertex less comes before it.
    const VertexId now(id.index() - 1);
    const auto& joined = tried.vertex(now);
    const auto cells = cells_of_inputs(tried, joined);
    const auto pattern = pattern_of(tried, joined, cells);
    if (!pattern) return std::nullopt;
    if (joined.cells && !leaves_zeros(joined.einsum, tried.labels(), input_types(tried, joined.inputs), *pattern))
      return std::nullopt;
    return seconds(tried, now) < before ? std::optional(std::move(tried)) : std::nullopt;
  }

  double seconds(const EinGraph& graph, VertexId id) const {
    const auto shape = shape_of(graph, graph.vertex(id));
    return model_.join(shape, Partition(shape.extents.size(), 1));
  }

  EinGraph graph_;
  const CalibratedModel& model_;
};

}  // namespace

EinGraph merge_joins_of_cells(const EinGraph& graph, const CalibratedModel& model) {
  return CellJoins(graph, model).run();
}

}  // namespace eindb
