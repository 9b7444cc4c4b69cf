#include "optimizer/partitions/chain_shape.hpp"

#include <algorithm>

#include "common/check.hpp"

namespace eindb {
namespace {

// The calls of a chain fetch an operand once for all of its vertices; the first reader is charged for it.
bool is_first_to_read(const EinGraph& graph, VertexId id, std::size_t input, const FusedChain& chain) {
  const auto& own = graph.vertex(id);
  for (const auto other : chain.body) {
    const auto& vertex = graph.vertex(other);
    for (std::size_t n = 0; n < vertex.inputs.size(); ++n)
      if (vertex.inputs[n] == own.inputs[input] && vertex.einsum.inputs[n] == own.einsum.inputs[input])
        return other == id && n == input;
  }
  return true;
}

}  // namespace

std::optional<VertexId> twin_in_chain(const EinGraph& graph, VertexId id, const FusedChain& chain) {
  const auto& vertex = graph.vertex(id);
  if (vertex.einsum.aggregate == Aggregate::None) return std::nullopt;
  for (const auto other : chain.body) {
    const auto& twin = graph.vertex(other);
    if (twin.einsum.aggregate != Aggregate::None || twin.inputs != vertex.inputs || other == chain.result ||
        twin.einsum.inputs != vertex.einsum.inputs || twin.compute_dtype != vertex.compute_dtype)
      continue;
    if (operands_of(*twin.einsum.expression).empty() || !equal(*twin.einsum.expression, *vertex.einsum.expression))
      continue;
    const auto has = [&](Label label) { return contains(twin.einsum.output, label); };
    const auto labels = vertex.einsum.labels();
    if (std::all_of(labels.begin(), labels.end(), has) && twin.einsum.output.size() == labels.size()) return other;
  }
  return std::nullopt;
}

VertexShape shape_in_chain(const EinGraph& graph, VertexId id, const FusedChain& chain) {
  const auto& vertex = graph.vertex(id);
  auto shape = shape_of(graph, vertex);
  DCHECK(std::is_sorted(chain.body.begin(), chain.body.end()), "the body of a chain is in the order of computation");
  CHECK(std::binary_search(chain.body.begin(), chain.body.end(), id), "a vertex is computed in the chain that has it");
  for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
    const bool is_made = std::binary_search(chain.body.begin(), chain.body.end(), vertex.inputs[n]);
    shape.at_hand.push_back(is_made || !is_first_to_read(graph, id, n, chain));
  }
  CHECK(shape.at_hand.size() == shape.inputs.size(), "of every operand in a chain it is known whether it is at hand");
  shape.stays = id != chain.result;
  if (twin_in_chain(graph, id, chain)) shape.work.operations.clear();
  return shape;
}

}  // namespace eindb
