#include "optimizer/remaining_graph.hpp"

#include <utility>

#include "common/check.hpp"

namespace eindb {
namespace {

// As passes take vertices: a function of the aggregated value is a vertex of its own.
VertexId add_without_epilogue(EinGraph& graph, Vertex vertex) {
  if (vertex.einsum.epilogue == nullptr) return graph.add(std::move(vertex));
  auto value = vertex;
  value.name += ".value";
  value.einsum.output = DistinctLabels(vertex.einsum.output).labels();
  value.einsum.epilogue = nullptr;
  value.bound = Shape(graph.labels().extents(value.einsum.output));
  value.dtype = value.compute_dtype;
  vertex.einsum = {.inputs = {value.einsum.output},
                   .output = vertex.einsum.output,
                   .aggregated = {},
                   .expression = vertex.einsum.epilogue,
                   .aggregate = Aggregate::None};
  vertex.inputs = {graph.add(std::move(value))};
  vertex.keeps_order = false;
  return graph.add(std::move(vertex));
}

}  // namespace

RemainingGraph remaining_graph(const EinGraph& whole, const std::map<VertexId, InputTensor>& computed,
                               std::span<const std::size_t> results) {
  CHECK(!results.empty(), "something is left to compute");
  std::vector<bool> needed(whole.size(), false);
  RemainingGraph out;
  for (const auto number : results) {
    const auto output = whole.outputs()[number];
    CHECK(!computed.contains(output), "a result that is there is not wanted again");
    needed[output.index()] = true;
    out.results.push_back(number);
  }
  for (auto v = whole.size(); v-- > 0;)
    if (needed[v] && !computed.contains(VertexId(v)))
      for (const auto input : whole.vertex(VertexId(v)).inputs) needed[input.index()] = true;
  out.graph.labels() = whole.labels();
  std::vector<VertexId> now(whole.size());
  for (std::size_t v = 0; v < whole.size(); ++v) {
    if (!needed[v]) continue;
    auto vertex = whole.vertex(VertexId(v));
    if (const auto known = computed.find(VertexId(v)); known != computed.end()) {
      auto input = make_input(known->second);
      input.name = vertex.name;
      CHECK(input.bound == vertex.bound && input.dtype == vertex.dtype, "a tensor stands for a vertex of its shape");
      now[v] = out.graph.add(std::move(input));
      continue;
    }
    for (auto& input : vertex.inputs) input = now[input.index()];
    vertex.cells.reset();
    vertex.density = {};
    if (vertex.stored) vertex.stored->as_cells = false;
    now[v] = add_without_epilogue(out.graph, std::move(vertex));
  }
  std::vector<VertexId> outputs;
  for (const auto number : out.results) outputs.push_back(now[whole.outputs()[number].index()]);
  out.graph.set_outputs(std::move(outputs));
  return out;
}

}  // namespace eindb
