#include "optimizer/common_subexpressions.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <unordered_map>

#include "optimizer/vertex_splitter.hpp"

namespace eindb {
namespace {

using Rename = std::function<Label(Label)>;

Labels rename(const Labels& labels, const Rename& to) {
  Labels out;
  out.reserve(labels.size());
  for (const auto label : labels) out.push_back(to(label));
  return out;
}

ScalarPtr rename(const ScalarPtr& e, const Rename& to) {
  using Kind = ScalarExpression::Kind;
  if (e->kind() == Kind::LabelIndex) return ScalarExpression::label_index(to(e->label()));
  if (e->kind() == Kind::Uniform || e->kind() == Kind::Normal)
    return ScalarExpression::random(e->kind(), e->seed(), rename(e->cell(), to));
  if (e->kind() != Kind::Call) return e;
  std::vector<ScalarPtr> arguments;
  arguments.reserve(e->arguments().size());
  for (const auto& argument : e->arguments()) arguments.push_back(rename(argument, to));
  return ScalarExpression::call(e->op(), std::move(arguments));
}

// A vertex with its labels numbered 0, 1, ... in order of first occurrence, so that equal vertices are equal values.
// For inputs of the computation the tensor stands for the EinSum.
struct CanonicalVertex {
  std::vector<VertexId> inputs;
  EinSum einsum;
  std::vector<std::int64_t> extents;
  DType dtype;
  DType compute_dtype;
  std::string tensor;  // with the selection, if there is one
  Partition stored_partition;
};

CanonicalVertex canonical(const Vertex& vertex, const LabelTable& table) {
  CanonicalVertex out{vertex.inputs, {}, vertex.bound.extents(), vertex.dtype, vertex.compute_dtype, {}, {}};
  if (vertex.is_input()) {
    out.tensor = vertex.stored->name;
    if (vertex.stored->selection) out.tensor += vertex.stored->selection->to_string();
    out.stored_partition = vertex.stored->grid.partition();
    return out;
  }
  const auto labels = vertex.einsum.labels();
  std::unordered_map<Label, Label> number;
  for (std::size_t n = 0; n < labels.size(); ++n) number.emplace(labels[n], Label(n));
  const Rename to = [&](Label label) { return number.at(label); };
  for (const auto& input : vertex.einsum.inputs) out.einsum.inputs.push_back(rename(input, to));
  out.einsum.output = rename(vertex.einsum.output, to);
  out.einsum.aggregated = rename(vertex.einsum.aggregated, to);
  std::sort(out.einsum.aggregated.begin(), out.einsum.aggregated.end());
  out.einsum.expression = rename(vertex.einsum.expression, to);
  out.einsum.aggregate = vertex.einsum.aggregate;
  out.extents = table.extents(labels);
  return out;
}

auto values_of(const CanonicalVertex& v) {
  return std::tie(v.inputs, v.einsum.inputs, v.einsum.output, v.einsum.aggregated, v.einsum.aggregate, v.extents,
                  v.dtype, v.compute_dtype, v.tensor, v.stored_partition);
}

struct Equal {
  bool operator()(const CanonicalVertex& a, const CanonicalVertex& b) const {
    if (values_of(a) != values_of(b)) return false;
    if (a.einsum.expression == nullptr || b.einsum.expression == nullptr)
      return a.einsum.expression == b.einsum.expression;
    return equal(*a.einsum.expression, *b.einsum.expression);
  }
};

struct Hash {
  std::size_t operator()(const CanonicalVertex& v) const {
    std::size_t hash = std::hash<std::string>{}(v.tensor);
    const auto mix = [&](std::size_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL + (hash >> 29); };
    for (const auto input : v.inputs) mix(input.index());
    for (const auto& labels : v.einsum.inputs)
      for (const auto label : labels) mix(label.index());
    for (const auto extent : v.extents) mix(static_cast<std::size_t>(extent));
    if (v.einsum.expression != nullptr) mix(hash_of(*v.einsum.expression));
    return hash;
  }
};

// The vertices of `graph` over representatives: vertex n, and which earlier or same vertex stands for it.
struct Representatives {
  std::vector<Vertex> vertices;
  std::vector<std::size_t> of;
};

Representatives find_representatives(const EinGraph& graph) {
  Representatives out;
  std::unordered_map<CanonicalVertex, std::size_t, Hash, Equal> seen;
  for (std::size_t n = 0; n < graph.size(); ++n) {
    Vertex vertex = graph.vertex(VertexId(n));
    for (auto& input : vertex.inputs) input = VertexId(out.of[input.index()]);
    vertex = unite_operands(std::move(vertex));
    out.of.push_back(seen.try_emplace(canonical(vertex, graph.labels()), n).first->second);
    out.vertices.push_back(std::move(vertex));
  }
  return out;
}

}  // namespace

EinGraph unite_common_subexpressions(const EinGraph& graph) {
  auto [vertices, of] = find_representatives(graph);
  // The result keeps the head that the statement gave it, also where an earlier vertex computes the same.
  const auto output = graph.output().index();
  vertices[of[output]] = vertices[output];

  EinGraph out;
  out.labels() = graph.labels();
  std::vector<VertexId> now(vertices.size());
  for (std::size_t n = 0; n < vertices.size(); ++n) {
    if (of[n] != n) continue;
    for (auto& input : vertices[n].inputs) input = now[input.index()];
    now[n] = out.add(std::move(vertices[n]));
  }
  out.set_output(now[of[output]]);
  return out;
}

}  // namespace eindb
