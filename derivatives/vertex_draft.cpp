#include "derivatives/vertex_draft.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "derivatives/scalar_algebra.hpp"

namespace eindb {
namespace {

// Z[i,i'] = CASE WHEN i = i' THEN values[i] ELSE 0 END, for the output i,i.
VertexId on_diagonal(EinGraph& graph, const std::string& name, const Labels& output, const Labels& distinct,
                     const Derivative& values, DType type) {
  VertexDraft draft(graph);
  const auto value = draft.read(values, distinct);
  Labels head;
  ScalarPtr here;
  for (const auto label : output) {
    if (!contains(head, label)) {
      head.push_back(label);
      continue;
    }
    head.push_back(graph.labels().add(graph.labels().name(label), graph.labels().extent(label)));
    auto same = ScalarExpression::call(
        ScalarOp::Equal, {ScalarExpression::label_index(label), ScalarExpression::label_index(head.back())});
    here = here == nullptr ? same : ScalarExpression::call(ScalarOp::And, {here, same});
  }
  return *draft.sum(name, head, head, algebra::choose(here, value, nullptr), type)->vertex;
}

}  // namespace

ScalarPtr VertexDraft::read(VertexId vertex, Labels labels) {
  CHECK(vertex.index() < graph_.size(), "an operand is a vertex of the graph");
  CHECK(labels.size() == graph_.vertex(vertex).bound.rank(), "each dimension of an operand has a label");
  inputs_.push_back(vertex);
  labels_.push_back(std::move(labels));
  types_.push_back(graph_.vertex(vertex).dtype);
  return ScalarExpression::operand(inputs_.size() - 1);
}

ScalarPtr VertexDraft::read(const Derivative& derivative, const Labels& labels) {
  CHECK(derivative.is_valid(), "a derivative is a vertex or a number");
  return derivative.vertex ? read(*derivative.vertex, labels) : derivative.constant;
}

Labels VertexDraft::labels_of(const ScalarExpression& expression) const {
  DistinctLabels out;
  for (const auto n : operands_of(expression)) out.add(labels_[n]);
  out.add(index_labels_of(expression));
  return out.labels();
}

std::optional<Derivative> VertexDraft::sum(const std::string& name, const Labels& output, const Labels& domain,
                                           const ScalarPtr& expression, DType type) {
  if (expression == nullptr) return std::nullopt;
  const DistinctLabels head(output);
  DCHECK(difference(head.labels(), domain).empty(), "the labels of a result are of the domain");
  const auto summed = difference(domain, head.labels());
  const auto present = labels_of(*expression);
  double times = 1;
  for (const auto label : difference(summed, present)) times *= static_cast<double>(graph_.labels().extent(label));
  const auto counted = algebra::times(algebra::number(times), expression);
  if (counted == nullptr) return std::nullopt;
  Derivative result;
  if (counted->is_constant()) result.constant = counted;
  else result.vertex = add(name, head.labels(), difference(summed, difference(summed, present)), counted, type);
  CHECK(result.is_valid(), "a sum is a vertex or a number");
  if (head.labels().size() == output.size()) return result;
  return Derivative{.vertex = on_diagonal(graph_, name, output, head.labels(), result, type)};
}

VertexId VertexDraft::add(const std::string& name, const Labels& output, const Labels& aggregated,
                          const ScalarPtr& expression, DType type) {
  EinSum einsum{.inputs = {},
                .output = output,
                .aggregated = aggregated,
                .expression = nullptr,
                .aggregate = aggregated.empty() ? Aggregate::None : Aggregate::Sum};
  std::vector<VertexId> inputs;
  std::vector<std::size_t> now(inputs_.size());
  for (const auto n : operands_of(*expression)) {
    now[n] = inputs.size();
    inputs.push_back(inputs_[n]);
    einsum.inputs.push_back(labels_[n]);
  }
  einsum.expression = substitute_operands(expression, [&](std::size_t n) { return ScalarExpression::operand(now[n]); });
  auto vertex = make_vertex_in(graph_, name, std::move(inputs), std::move(einsum), type);
  if (is_complex(vertex.dtype) && !is_complex(type)) {
    const auto whole = graph_.add(std::move(vertex));
    VertexDraft real(graph_);
    const auto part = ScalarExpression::call(ScalarOp::Real, {real.read(whole, output)});
    return real.add(name, output, {}, part, type);
  }
  vertex.dtype = type;
  return graph_.add(std::move(vertex));
}

std::optional<Derivative> add_up(EinGraph& graph, const std::vector<Derivative>& terms, const Labels& labels,
                                 const std::string& name, DType type) {
  DCHECK(std::all_of(terms.begin(), terms.end(), [](const Derivative& term) { return term.is_valid(); }),
         "each term is a vertex or a number");
  DCHECK(DistinctLabels(labels).labels().size() == labels.size(), "a sum is read with distinct labels");
  if (terms.empty()) return std::nullopt;
  if (terms.size() == 1) return terms.front();
  VertexDraft draft(graph);
  ScalarPtr sum;
  for (const auto& term : terms) sum = algebra::plus(sum, draft.read(term, labels));
  return draft.sum(name, labels, labels, sum, type);
}

VertexId shifted(EinGraph& graph, const std::string& name, VertexId vertex, const Labels& labels, Label from, Label to,
                 std::int64_t distance, DType type) {
  auto output = labels;
  std::replace(output.begin(), output.end(), from, to);
  VertexDraft draft(graph);
  const auto value = draft.read(vertex, labels);
  auto at = ScalarExpression::label_index(to);
  if (distance != 0)
    at = ScalarExpression::call(distance > 0 ? ScalarOp::Add : ScalarOp::Subtract,
                                {std::move(at), ScalarExpression::integer(distance > 0 ? distance : -distance)});
  const auto is_there = ScalarExpression::call(ScalarOp::Equal, {ScalarExpression::label_index(from), std::move(at)});
  auto domain = output;
  domain.push_back(from);
  const auto here = ScalarExpression::call(ScalarOp::Case, {is_there, value, ScalarExpression::integer(0)});
  return *draft.sum(name, output, domain, here, type)->vertex;
}

VertexId materialize(EinGraph& graph, const std::string& name, const Labels& labels,
                     const std::optional<Derivative>& derivative, DType type) {
  EinSum einsum{.inputs = {}, .output = labels, .aggregated = {}, .expression = nullptr};
  std::vector<VertexId> inputs;
  CHECK(!derivative || derivative->is_valid(), "a derivative is a vertex or a number");
  if (derivative && derivative->vertex) {
    inputs.push_back(*derivative->vertex);
    einsum.inputs.push_back(labels);
    einsum.expression = ScalarExpression::operand(0);
  } else {
    einsum.expression = algebra::or_zero(derivative ? derivative->constant : nullptr);
  }
  auto vertex = make_vertex_in(graph, name, std::move(inputs), std::move(einsum), type);
  vertex.dtype = type;
  return graph.add(std::move(vertex));
}

std::string definition_of(const EinGraph& graph, const std::string& name) {
  const auto dot = name.find_last_of('.');
  if (dot == std::string::npos || name.find_first_not_of("0123456789", dot + 1) != std::string::npos) return name;
  const auto base = name.substr(0, dot);
  const auto& vertices = graph.vertices();
  const bool known = std::any_of(vertices.begin(), vertices.end(), [&](const auto& v) { return v.name == base; });
  return known ? base : name;
}

}  // namespace eindb
