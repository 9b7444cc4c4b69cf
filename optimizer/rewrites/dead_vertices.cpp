#include "optimizer/rewrites/dead_vertices.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"

namespace eindb {

std::vector<bool> reached_by_outputs(const EinGraph& graph) {
  std::vector<bool> reached(graph.size(), false);
  for (const auto output : graph.outputs()) {
    CHECK(output.index() < graph.size(), "an output is a vertex of its graph");
    reached[output.index()] = true;
  }
  // Readers come after their inputs, so one backward sweep is enough.
  for (std::size_t n = graph.size(); n-- > 0;)
    if (reached[n])
      for (const auto input : graph.vertex(VertexId(n)).inputs) reached[input.index()] = true;
  return reached;
}

EinGraph drop_dead_vertices(const EinGraph& graph) {
  const auto alive = reached_by_outputs(graph);
  if (std::all_of(alive.begin(), alive.end(), [](bool is_alive) { return is_alive; })) return graph;
  EinGraph out;
  out.labels() = graph.labels();
  std::vector<VertexId> now(graph.size());
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (!alive[n]) continue;
    for (const auto input : graph.vertices()[n].inputs)
      CHECK(input.index() < n && alive[input.index()], "what a vertex reads is there before it");
    now[n] = add_renumbered(out, graph.vertices(), n, now);
  }
  out.set_outputs(outputs_now(graph, now));
  return out;
}

}  // namespace eindb
