#include "optimizer/partitions/chain_shape.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "tensor/kernel_choice.hpp"
#include "tensor/pair_form.hpp"

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

// A vertex of the chain that is a search, with the join that it reads taken in, and that join.
struct SearchInChain {
  EinSum einsum;
  VertexId join;
  std::size_t sought;  // the number of the other operand
};

std::optional<SearchInChain> search_in_chain(const EinGraph& graph, VertexId id, const FusedChain& chain) {
  const auto& vertex = graph.vertex(id);
  if (vertex.inputs.size() != 2 || !index_search(vertex.einsum)) return std::nullopt;
  for (std::size_t n = 0; n < 2; ++n) {
    const auto made = vertex.inputs[n];
    if (made == chain.result || !std::binary_search(chain.body.begin(), chain.body.end(), made)) continue;
    std::ptrdiff_t reads = 0;
    for (const auto other : chain.body) {
      const auto& inputs = graph.vertex(other).inputs;
      reads += std::count(inputs.begin(), inputs.end(), made);
    }
    if (reads != 1) continue;
    auto taken = with_join_taken_in(vertex.einsum, n, graph.vertex(made).einsum, vertex.compute_dtype, graph.labels());
    if (!taken) continue;
    return SearchInChain{*std::move(taken), made, 1 - n};
  }
  return std::nullopt;
}

// Whether a vertex is the join that a search of the chain computes.
bool is_taken_in(const EinGraph& graph, VertexId id, const FusedChain& chain) {
  return std::any_of(chain.body.begin(), chain.body.end(), [&](VertexId other) {
    const auto search = search_in_chain(graph, other, chain);
    return search && search->join == id;
  });
}

// The work of pair blocks, seen from the vertex: its labels have their roles, and what is read beside the join is
// small.
KernelWork work_of_search(const Vertex& vertex, const SearchInChain& search, KernelWork work) {
  const auto types = std::vector<DType>(search.einsum.inputs.size(), vertex.compute_dtype);
  const auto whole = work_of(search.einsum, types, vertex.compute_dtype, vertex.dtype);
  CHECK(whole.matrix.has_value(), "a search is computed by pair blocks");
  const auto labels = search.einsum.labels();
  MatrixWork matrix{.roles = {}, .left = search.sought, .right = search.sought};
  for (const auto label : vertex.einsum.labels()) {
    const auto place = std::find(labels.begin(), labels.end(), label) - labels.begin();
    matrix.roles.push_back(whole.matrix->roles[static_cast<std::size_t>(place)]);
  }
  work.input_bytes[1 - search.sought] = 0;  // what the join would have stored
  work.kernel = whole.kernel;
  work.pair_operations = whole.pair_operations;
  work.matrix = std::move(matrix);
  return work;
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
  shape.is_looked_through = shape.stays && is_window_of(graph, vertex);
  const bool taken_in = is_taken_in(graph, id, chain);
  if (taken_in || twin_in_chain(graph, id, chain)) shape.work.operations.clear();
  if (taken_in) {
    shape.work.output_bytes = 0;  // its values stay in registers
    shape.work.crosswise = 0;
  }
  if (const auto search = search_in_chain(graph, id, chain))
    shape.work = work_of_search(vertex, *search, std::move(shape.work));
  return shape;
}

}  // namespace eindb
