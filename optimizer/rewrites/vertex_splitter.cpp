#include "optimizer/rewrites/vertex_splitter.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/check.hpp"
#include "tensor/scalar_types.hpp"

namespace eindb {

VertexNames::VertexNames(const EinGraph& graph) {
  for (const auto& vertex : graph.vertices()) taken_.insert(vertex.name);
}

std::string VertexNames::next(const std::string& base) {
  auto& last = last_[base];
  for (;;) {
    auto name = base + "." + std::to_string(++last);
    if (taken_.insert(name).second) return name;
  }
}

namespace {

// Whether a vertex reads the same vertices if now[m] replaces vertex m.
bool keeps_inputs(const Vertex& vertex, const std::vector<VertexId>& now) {
  return std::all_of(vertex.inputs.begin(), vertex.inputs.end(), [&](VertexId input) {
    CHECK(input.index() < now.size(), "what a vertex reads is replaced before it");
    return now[input.index()] == input;
  });
}

Vertex with_inputs(Vertex vertex, const std::vector<VertexId>& now) {
  for (auto& input : vertex.inputs) input = now[input.index()];
  return vertex;
}

}  // namespace

VertexId add_renumbered(EinGraph& out, const VertexList& from, std::size_t n, const std::vector<VertexId>& now) {
  return keeps_inputs(from[n], now) ? out.add(from, n) : out.add(with_inputs(from[n], now));
}

EinGraph rewrite_each(const EinGraph& graph, const Rewrite& rewrite) {
  EinGraph out;
  out.labels() = graph.labels();
  std::vector<VertexId> now;
  now.reserve(graph.size());
  for (std::size_t n = 0; n < graph.size(); ++n) {
    const auto& old = graph.vertices()[n];
    if (keeps_inputs(old, now)) {
      const auto rewritten = rewrite(out, old);
      now.push_back(rewritten ? *rewritten : out.add(graph.vertices(), n));
    } else {
      auto vertex = with_inputs(old, now);
      const auto rewritten = rewrite(out, vertex);
      now.push_back(rewritten ? *rewritten : out.add(std::move(vertex)));
    }
    CHECK(now.back().index() < out.size(), "what stands for a vertex is in the new graph");
  }
  out.set_outputs(outputs_now(graph, now));
  return out;
}

bool has_equal_operands(const Vertex& vertex) {
  CHECK(vertex.inputs.size() == vertex.einsum.inputs.size(), "every operand of a vertex has labels");
  // A function of matrices, or a recurrence, has several operands, whatever they are.
  if (vertex.inputs.size() < 2 || vertex.einsum.block) return false;
  if (vertex.inputs.size() == 2)
    return vertex.inputs[0] == vertex.inputs[1] && vertex.einsum.inputs[0] == vertex.einsum.inputs[1];
  std::set<std::pair<VertexId, Labels>> known;
  for (std::size_t n = 0; n < vertex.inputs.size(); ++n)
    if (!known.emplace(vertex.inputs[n], vertex.einsum.inputs[n]).second) return true;
  return false;
}

Vertex unite_operands(Vertex vertex) {
  if (!has_equal_operands(vertex)) return vertex;
  std::map<std::pair<VertexId, Labels>, std::size_t> known;
  std::vector<std::size_t> now;
  std::vector<VertexId> inputs;
  std::vector<Labels> labels;
  for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
    const auto [entry, is_new] = known.try_emplace({vertex.inputs[n], vertex.einsum.inputs[n]}, inputs.size());
    now.push_back(entry->second);
    if (!is_new) continue;
    inputs.push_back(vertex.inputs[n]);
    labels.push_back(vertex.einsum.inputs[n]);
  }
  vertex.inputs = std::move(inputs);
  vertex.einsum.inputs = std::move(labels);
  vertex.einsum.expression =
      substitute_operands(vertex.einsum.expression, [&](std::size_t n) { return ScalarExpression::operand(now[n]); });
  return vertex;
}

VertexSplitter::VertexSplitter(EinGraph& graph, VertexNames& names, Vertex vertex)
    : graph_(graph), names_(names), vertex_(std::move(vertex)), types_(input_types(graph, vertex_.inputs)) {
  CHECK(vertex_.einsum.epilogue == nullptr, "vertices are taken apart before they get epilogues");
  for (std::size_t n = 0; n < vertex_.inputs.size(); ++n)
    operands_.push_back({vertex_.inputs[n], vertex_.einsum.inputs[n]});
}

Labels VertexSplitter::labels_of(const ScalarExpression& expression) const {
  Labels out;
  for (const auto operand : operands_of(expression)) append_distinct(out, labels_of(operand));
  append_distinct(out, index_labels_of(expression));
  return out;
}

DType VertexSplitter::type_of(const ScalarExpression& expression) const {
  return written_type(expression, types_).value_or(vertex_.compute_dtype);
}

Vertex VertexSplitter::build(std::string name, const ScalarPtr& expression, EinSum head, DType type) const {
  std::vector<VertexId> inputs;
  std::unordered_map<std::size_t, std::size_t> place;
  head.expression = substitute_operands(expression, [&](std::size_t operand) {
    CHECK(operand < operands_.size(), "a part reads operands of the vertex and parts before it");
    const auto [known, is_new] = place.try_emplace(operand, inputs.size());
    if (is_new) {
      inputs.push_back(operands_[operand].vertex);
      head.inputs.push_back(operands_[operand].labels);
    }
    return ScalarExpression::operand(known->second);
  });
  return make_vertex(graph_, std::move(name), std::move(inputs), std::move(head), type);
}

ScalarPtr VertexSplitter::add_part(const ScalarPtr& expression, Labels output, Labels aggregated, Aggregate how) {
  EinSum head;
  head.aggregate = aggregated.empty() ? Aggregate::None : how;
  if (head.aggregate == Aggregate::User) head.user = vertex_.einsum.user;
  head.aggregated = std::move(aggregated);
  head.output = output;
  auto part = build(names_.next(vertex_.name), expression, std::move(head), type_of(*expression));
  types_.push_back(part.dtype);
  operands_.push_back({graph_.add(std::move(part)), std::move(output)});
  CHECK(types_.size() == operands_.size(), "every operand has a type");
  return ScalarExpression::operand(operands_.size() - 1);
}

VertexId VertexSplitter::finish(const ScalarPtr& expression, Labels aggregated) {
  EinSum head;
  head.aggregate = aggregated.empty() ? Aggregate::None : vertex_.einsum.aggregate;
  if (head.aggregate == Aggregate::User) head.user = vertex_.einsum.user;
  head.aggregated = std::move(aggregated);
  head.output = vertex_.einsum.output;
  auto last = build(vertex_.name, expression, std::move(head), vertex_.compute_dtype);
  last.dtype = vertex_.dtype;
  return graph_.add(std::move(last));
}

}  // namespace eindb
