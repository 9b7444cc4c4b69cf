#include "optimizer/rewrites/placed_extremes.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "optimizer/rewrites/label_substitution.hpp"
#include "optimizer/rewrites/vertex_merger.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"
#include "tensor/pair_form.hpp"
#include "tensor/placed_value.hpp"

namespace eindb {
namespace {

// A cell of the result takes as much as four values of FLOAT32.
constexpr std::int64_t kFewestValues = 64;
constexpr std::int64_t kFewestJoined = 16;  // which are computed for each cell

bool are_distinct(const Labels& labels) { return DistinctLabels(labels).labels().size() == labels.size(); }

// Whether a tensor that plans may read as cells has few of them.
bool has_few_cells(const Vertex& input) {
  constexpr double kMostCells = 0.25;
  return input.stored->cells &&
         input.stored->cells->cells <= kMostCells * static_cast<double>(input.bound.element_count());
}

// Whether the values are read, or computed of what is read, one by one, whoever reads them; the kernels of cells have
// no values with indices.
bool are_dense(const EinGraph& graph, const Vertex& values) {
  if (values.is_input()) return !has_few_cells(values);
  if (values.einsum.aggregate != Aggregate::None) return true;
  return std::all_of(values.inputs.begin(), values.inputs.end(),
                     [&](VertexId input) { return are_dense(graph, graph.vertex(input)); });
}

// The least number of values for which the result does not weigh.
std::int64_t fewest_values(const EinGraph& graph, const Vertex& values) {
  if (values.is_input() || values.einsum.aggregate != Aggregate::None || values.inputs.size() < 2) return kFewestValues;
  const auto cells = cells_of(graph.labels(), values.einsum.output);
  const bool joins = std::all_of(values.einsum.inputs.begin(), values.einsum.inputs.end(),
                                 [&](const Labels& labels) { return cells_of(graph.labels(), labels) < cells; });
  return joins ? kFewestJoined : kFewestValues;
}

bool is_extreme_of_values(const EinGraph& graph, const Vertex& vertex) {
  if (vertex.is_input() || vertex.inputs.size() != 1 || vertex.einsum.epilogue != nullptr ||
      (vertex.einsum.aggregate != Aggregate::Min && vertex.einsum.aggregate != Aggregate::Max))
    return false;
  const auto& values = graph.vertex(vertex.inputs.front());
  const auto type = values.dtype;
  if (is_complex(type) || vertex.dtype != type || vertex.compute_dtype != type || !are_dense(graph, values))
    return false;
  const auto& einsum = vertex.einsum;
  if (einsum.expression->kind() != ScalarExpression::Kind::Operand || einsum.aggregated.size() != 1 ||
      !are_distinct(einsum.inputs.front()) || einsum.labels().size() != einsum.inputs.front().size())
    return false;
  const auto count = graph.labels().extent(einsum.aggregated.front());
  return count >= fewest_values(graph, values) && count <= most_places(type);
}

// The number of the extreme among the vertices, if the vertex looks for its index.
std::optional<std::size_t> extreme_sought(const EinGraph& graph, const Vertex& vertex) {
  if (vertex.is_input() || vertex.inputs.size() != 2 || vertex.einsum.epilogue != nullptr) return std::nullopt;
  const auto search = index_search(vertex.einsum);
  if (!search) return std::nullopt;
  const auto sought = vertex.inputs[search->sought];
  const auto& extreme = graph.vertex(sought);
  if (!is_extreme_of_values(graph, extreme) || extreme.inputs.front() != vertex.inputs[search->values])
    return std::nullopt;
  const auto& einsum = vertex.einsum;
  const auto& read = einsum.inputs[search->values];
  if (!are_distinct(read) || einsum.labels().size() != read.size()) return std::nullopt;
  const auto read_as = labels_as_read(extreme.einsum.inputs.front(), read);
  const auto now = renaming(read_as);
  if (rename_labels(extreme.einsum.output, now) != einsum.inputs[search->sought] ||
      rename_labels(extreme.einsum.aggregated, now) != einsum.aggregated)
    return std::nullopt;
  const auto last = graph.labels().extent(einsum.aggregated.front()) - 1;
  return search->none >= static_cast<double>(last) ? std::optional(sought.index()) : std::nullopt;
}

// Values with their indices.
Vertex placed(const EinGraph& graph, std::string name, const Vertex& extreme) {
  auto einsum = extreme.einsum;
  einsum.aggregate = einsum.aggregate == Aggregate::Min ? Aggregate::FirstLeast : Aggregate::FirstGreatest;
  einsum.expression =
      with_place(ScalarExpression::operand(0), extreme.dtype, einsum.aggregated.front(), einsum.aggregate);
  return make_vertex(graph, std::move(name), extreme.inputs, std::move(einsum));
}

// Z[output] = the value or index of P[read].
Vertex part_vertex(const EinGraph& graph, const Vertex& whole, VertexId pairs, ScalarPtr part, const Labels& read) {
  EinSum einsum{.inputs = {read},
                .output = whole.einsum.output,
                .aggregated = {},
                .expression = std::move(part),
                .aggregate = Aggregate::None};
  auto vertex = make_vertex(graph, whole.name, {pairs}, std::move(einsum), whole.dtype);
  vertex.is_compared = whole.is_compared;
  vertex.keeps_order = whole.keeps_order;
  return vertex;
}

}  // namespace

EinGraph place_extremes(const EinGraph& graph) {
  std::unordered_map<std::size_t, std::size_t> sought_by;  // the search's number -> that of its extreme
  for (std::size_t n = 0; n < graph.size(); ++n)
    if (const auto sought = extreme_sought(graph, graph.vertices()[n])) sought_by.emplace(n, *sought);
  if (sought_by.empty()) return graph;
  std::set<std::size_t> extremes;
  for (const auto& [search, extreme] : sought_by) extremes.insert(extreme);
  std::map<std::size_t, VertexId> pairs;  // by the number of the extreme
  VertexNames names(graph);
  std::size_t next = 0;
  return rewrite_each(graph, [&](EinGraph& out, const Vertex& vertex) -> std::optional<VertexId> {
    const auto n = next++;
    if (extremes.contains(n)) {
      const auto made = pairs.emplace(n, out.add(placed(out, names.next(vertex.name), vertex))).first->second;
      auto value = value_of_placed(ScalarExpression::operand(0), vertex.dtype, out.vertex(made).einsum.aggregate);
      return out.add(part_vertex(out, vertex, made, std::move(value), vertex.einsum.output));
    }
    const auto search = sought_by.find(n);
    if (search == sought_by.end()) return std::nullopt;
    const auto& read = vertex.einsum.inputs[index_search(vertex.einsum)->sought];
    auto place = index_of_placed(ScalarExpression::operand(0), graph.vertices()[search->second].dtype);
    return out.add(part_vertex(out, vertex, pairs.at(search->second), std::move(place), read));
  });
}

}  // namespace eindb
