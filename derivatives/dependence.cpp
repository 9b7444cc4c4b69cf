#include "derivatives/dependence.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "derivatives/shift_invariance.hpp"

namespace eindb {

bool is_selected_from(const EinGraph& graph, VertexId selected, VertexId whole) {
  const auto& part = graph.vertex(selected).stored;
  const auto& tensor = graph.vertex(whole).stored;
  return part && tensor && part->selection && !tensor->selection && part->name == tensor->name;
}

std::vector<bool> smoothly_depending_on(const EinGraph& graph, const std::vector<VertexId>& variables,
                                        VertexId result) {
  CHECK(result.index() < graph.size(), "what is derived is a vertex of the graph");
  const auto cancelled = cancelled_extremes(graph, result);
  CHECK(cancelled.size() == graph.size(), "each vertex is cancelled or not");
  std::vector<bool> depends(graph.size(), false);
  for (std::size_t n = 0; n < graph.size(); ++n) {
    const auto is_part = [&](VertexId variable) {
      return variable.index() == n || is_selected_from(graph, VertexId(n), variable);
    };
    if (cancelled[n]) continue;
    const auto& inputs = graph.vertices()[n].inputs;
    DCHECK(std::all_of(inputs.begin(), inputs.end(), [&](VertexId input) { return input.index() < n; }),
           "a vertex reads those before it");
    depends[n] = std::any_of(variables.begin(), variables.end(), is_part) ||
                 std::any_of(inputs.begin(), inputs.end(), [&](VertexId input) { return depends[input.index()]; });
  }
  return depends;
}

std::vector<Labels> first_reads(const EinGraph& graph) {
  std::vector<Labels> reads(graph.size());
  for (const auto& vertex : graph.vertices())
    for (std::size_t n = 0; n < vertex.inputs.size(); ++n)
      if (auto& labels = reads[vertex.inputs[n].index()]; labels.empty()) labels = vertex.einsum.inputs[n];
  return reads;
}

}  // namespace eindb
