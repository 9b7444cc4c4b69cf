#include "optimizer/rewrites/needed_factors.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "optimizer/rewrites/dead_vertices.hpp"
#include "optimizer/rewrites/packed_factors.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"
#include "tensor/block_form.hpp"

namespace eindb {
namespace {

// The rows of a factorisation that it gives alone if its result has no more.
struct NeededRows {
  std::int64_t first;
  std::int64_t count;
};

std::optional<NeededRows> candidate(const EinGraph& graph, const Vertex& vertex) {
  const auto& einsum = vertex.einsum;
  if (!einsum.block || vertex.compute_dtype != DType::Float64) return std::nullopt;
  const bool is_svd = einsum.block->op == BlockOp::Svd;
  if (!is_svd && einsum.block->op != BlockOp::Qr) return std::nullopt;
  const auto core = core_of(einsum, 0);
  const auto extent = [&](Label label) { return graph.labels().extent(label); };
  const NeededRows rows{extent(core[0]), is_svd ? 1 : extent(core[1])};
  const auto stacked = result_core_of(einsum);
  const bool has_columns_last = !einsum.output.empty() && einsum.output.back() == stacked[1];
  return has_columns_last && extent(stacked[0]) > rows.count ? std::optional(rows) : std::nullopt;
}

// By number of the vertices that need no more. Vertices that nothing reads do not count as readers.
std::vector<std::optional<NeededRows>> needed_rows(const EinGraph& graph) {
  std::vector<std::optional<NeededRows>> needed(graph.size());
  for (std::size_t n = 0; n < graph.size(); ++n) needed[n] = candidate(graph, graph.vertex(VertexId(n)));
  if (std::none_of(needed.begin(), needed.end(), [](const auto& rows) { return rows.has_value(); })) return {};
  const auto alive = reached_by_outputs(graph);
  for (const auto output : graph.outputs()) needed[output.index()].reset();
  for (std::size_t n = 0; n < graph.size(); ++n) {
    const auto& reader = graph.vertex(VertexId(n));
    for (const auto input : reader.inputs) {
      auto& rows = needed[input.index()];
      if (!rows || !alive[n]) continue;
      const auto& einsum = graph.vertex(input).einsum;
      const auto read = reader.inputs.size() == 1
                            ? packed_rows_read(graph, reader, einsum.output, result_core_of(einsum))
                            : std::nullopt;
      if (!read || read->first < rows->first || read->first + read->count > rows->first + rows->count) rows.reset();
    }
  }
  return needed;
}

PackedPiece piece_of(EinGraph& graph, VertexNames& names, const Vertex& vertex, const NeededRows& needed) {
  auto einsum = vertex.einsum;
  const auto core = result_core_of(einsum);
  const auto rows = graph.labels().add(std::string(graph.labels().name(core[0])), needed.count);
  std::replace(einsum.output.begin(), einsum.output.end(), core[0], rows);
  auto all = core_of(einsum, 0);
  all.insert(all.end(), {rows, core[1]});
  einsum.expression = block_expression(1, all);
  auto labels = einsum.output;
  auto made = make_vertex(graph, names.next(vertex.name), vertex.inputs, std::move(einsum), vertex.compute_dtype);
  made.dtype = vertex.dtype;
  return {needed.first, graph.add(std::move(made)), std::move(labels), rows};
}

}  // namespace

EinGraph compute_needed_factors(const EinGraph& graph) {
  const auto needed = needed_rows(graph);
  if (std::none_of(needed.begin(), needed.end(), [](const auto& rows) { return rows.has_value(); })) return graph;
  VertexNames names(graph);
  std::map<VertexId, PackedFactors> packed;
  std::size_t number = 0;
  // The whole factorisation stays in the graph, for readers that nobody reads.
  return rewrite_each(graph, [&](EinGraph& out, const Vertex& vertex) -> std::optional<VertexId> {
    const auto n = number++;
    if (vertex.inputs.size() == 1)
      if (const auto found = packed.find(vertex.inputs.front()); found != packed.end())
        return reread(out, vertex, found->second);
    if (!needed[n]) return std::nullopt;
    const auto& einsum = vertex.einsum;
    PackedFactors factors{{piece_of(out, names, vertex, *needed[n])}, einsum.output, result_core_of(einsum)};
    const auto whole = out.add(vertex);
    packed.emplace(whole, std::move(factors));
    return whole;
  });
}

}  // namespace eindb
