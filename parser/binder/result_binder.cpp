#include "parser/binder/result_binder.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "tensor/scalar_types.hpp"

namespace eindb {
namespace {

std::vector<std::string> distinct(const std::vector<std::string>& names) {
  std::set<std::string> taken;
  std::vector<std::string> out;
  for (const auto& base : names) {
    auto name = base;
    for (int n = 2; !taken.insert(name).second; ++n) name = base + "_" + std::to_string(n);
    out.push_back(std::move(name));
  }
  return out;
}

std::vector<std::string> names_of(const LabelTable& table, const Labels& labels) {
  std::vector<std::string> names;
  for (const auto label : labels) names.push_back(table.name(label));
  return names;
}

std::vector<std::string> numbered(std::size_t rank) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < rank; ++d) names.push_back("d" + std::to_string(d));
  return names;
}

}  // namespace

std::vector<std::string> dimension_names(const EinGraph& graph, VertexId vertex) {
  const auto& v = graph.vertex(vertex);
  if (!v.is_input()) return distinct(names_of(graph.labels(), v.einsum.output));
  for (const auto& reader : graph.vertices()) {
    const auto read = std::find(reader.inputs.begin(), reader.inputs.end(), vertex);
    if (read == reader.inputs.end()) continue;
    const auto operand = static_cast<std::size_t>(read - reader.inputs.begin());
    return distinct(names_of(graph.labels(), reader.einsum.inputs[operand]));
  }
  return numbered(v.bound.rank());
}

DimensionNames index_names(const EinGraph& graph, VertexId vertex) {
  const auto& v = graph.vertex(vertex);
  if (v.is_input()) return v.stored->names;
  DimensionNames names;
  for (std::size_t d = 0; d < v.einsum.output.size(); ++d) names.set(d, graph.labels().index_names(v.einsum.output[d]));
  return names;
}

VertexId add_copy(EinGraph& graph, VertexId vertex, const std::string& name) {
  const auto names = dimension_names(graph, vertex);
  const auto of_indices = index_names(graph, vertex);
  const auto extents = graph.vertex(vertex).bound.extents();
  Labels labels;
  for (std::size_t d = 0; d < names.size(); ++d) {
    labels.push_back(graph.labels().add(names[d], extents[d]));
    graph.labels().set_index_names(labels.back(), of_indices.at(d));
  }
  EinSum einsum{.inputs = {labels},
                .output = labels,
                .aggregated = {},
                .expression = ScalarExpression::operand(0),
                .aggregate = Aggregate::None};
  return graph.add(make_vertex(graph, name, {vertex}, std::move(einsum)));
}

namespace {

// An expression without tensors as it was before it had types.
ScalarPtr without_types(const ScalarPtr& e) {
  if (e->kind() != ScalarExpression::Kind::Call) return ScalarExpression::with_type(e, std::nullopt);
  std::vector<ScalarPtr> arguments;
  for (const auto& argument : e->arguments()) arguments.push_back(without_types(argument));
  return converts_to(e->op()) ? arguments.front() : ScalarExpression::call(e->op(), std::move(arguments));
}

}  // namespace

void set_result_type(EinGraph& graph, VertexId id, DType type) {
  const auto& vertex = graph.vertex(id);
  if (type == DType::Int64 && vertex.compute_dtype == DType::Float64 && vertex.inputs.empty() &&
      vertex.einsum.aggregate == Aggregate::None) {
    const auto plain = without_types(vertex.einsum.expression);
    const auto kind = kind_of(*plain, {});
    if (kind.weak && kind.dtype == DType::Int64) {
      auto exact = vertex;
      exact.einsum.expression = with_types(plain, {}, graph.labels(), type);
      exact.dtype = exact.compute_dtype = type;
      graph.replace(id, std::move(exact));
    }
  }
  graph.set_dtype(id, type);
}

VertexId with_result_type(EinGraph& graph, VertexId vertex, DType type, const std::string& name) {
  const auto& now = graph.vertex(vertex);
  if (now.dtype == type) return vertex;
  if (now.is_input() || now.dtype != now.compute_dtype || is_read(graph, vertex))
    vertex = add_copy(graph, vertex, name);
  set_result_type(graph, vertex, type);
  return vertex;
}

bool is_read(const EinGraph& graph, VertexId vertex) {
  const auto reads = [&](const Vertex& reader) {
    return std::find(reader.inputs.begin(), reader.inputs.end(), vertex) != reader.inputs.end();
  };
  return std::any_of(graph.vertices().begin(), graph.vertices().end(), reads);
}

}  // namespace eindb
