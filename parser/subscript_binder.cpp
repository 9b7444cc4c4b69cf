#include "parser/subscript_binder.hpp"

#include <algorithm>
#include <map>

#include "common/error.hpp"

namespace eindb {
namespace {

void require_plain(const ast::Subscripts& subscripts) {
  if (subscripts.nesting) {
    throw Error(ErrorKind::Unsupported, "parentheses in subscripts cannot be planned by this version",
                subscripts.nesting->span, "leave them out: the optimizer orders contractions");
  }
  const auto check = [](const ast::SubscriptTerm& term) {
    for (const auto& item : term.items) {
      if (item.is_ellipsis()) {
        throw Error(ErrorKind::Unsupported, "an ellipsis in subscripts cannot be read by this version", item.span,
                    "write a label for each dimension");
      }
    }
  };
  std::for_each(subscripts.inputs.begin(), subscripts.inputs.end(), check);
  if (subscripts.output) check(*subscripts.output);
}

std::string plural(std::size_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

Labels bind_term(const ast::SubscriptTerm& term, const Vertex& tensor, LabelScope& scope) {
  if (term.items.size() != tensor.bound.rank()) {
    throw Error(ErrorKind::Label,
                tensor.name + " has " + plural(tensor.bound.rank(), "dimension") + ", but its subscripts give " +
                    plural(term.items.size(), "label"),
                term.span);
  }
  Labels labels;
  for (std::size_t d = 0; d < term.items.size(); ++d) {
    const ast::Identifier name{.text = term.items[d].label, .span = term.items[d].span, .quoted = false};
    labels.push_back(scope.bind(name, tensor.bound[d], "dimension " + std::to_string(d + 1) + " of " + tensor.name));
  }
  return labels;
}

Labels implicit_output(const std::vector<Labels>& inputs, const LabelTable& table) {
  std::map<std::string, std::pair<Label, int>> occurrences;
  for (const auto& labels : inputs)
    for (const auto label : labels) {
      auto& entry = occurrences[table.name(label)];
      entry.first = label;
      ++entry.second;
    }
  Labels output;
  for (const auto& [name, entry] : occurrences)
    if (entry.second == 1) output.push_back(entry.first);
  return output;
}

Labels explicit_output(const ast::SubscriptTerm& term, const LabelScope& scope) {
  Labels output;
  for (const auto& item : term.items) {
    const auto* label = scope.find(item.label);
    if (label == nullptr) {
      throw Error(ErrorKind::Label, "label " + item.label + " of the output occurs in no operand", item.span,
                  "use labels of the operands");
    }
    output.push_back(*label);
  }
  return output;
}

}  // namespace

VertexId bind_subscripts(const ast::Subscripts& subscripts, EinGraph& graph, TensorScope& tensors, LabelScope& labels) {
  require_plain(subscripts);
  if (subscripts.inputs.size() != subscripts.operands.size()) {
    throw Error(ErrorKind::Label,
                "the subscripts describe " + plural(subscripts.inputs.size(), "operand") + ", but " +
                    std::to_string(subscripts.operands.size()) + " are given",
                subscripts.text_span);
  }
  EinSum einsum;
  std::vector<VertexId> inputs;
  std::vector<ScalarPtr> factors;
  for (std::size_t n = 0; n < subscripts.operands.size(); ++n) {
    inputs.push_back(tensors.get(subscripts.operands[n]));
    einsum.inputs.push_back(bind_term(subscripts.inputs[n], graph.vertex(inputs.back()), labels));
    factors.push_back(ScalarExpression::operand(n));
  }
  const auto places =
      subscripts.output ? explicit_output(*subscripts.output, labels) : implicit_output(einsum.inputs, graph.labels());
  Labels all;
  for (const auto& input : einsum.inputs) append_distinct(all, input);
  append_distinct(einsum.output, places);
  einsum.aggregated = difference(all, einsum.output);
  einsum.aggregate = einsum.aggregated.empty() ? Aggregate::None : Aggregate::Sum;
  einsum.expression = factors.size() == 1 ? factors[0] : ScalarExpression::call(ScalarOp::Multiply, factors);
  const auto distinct = einsum.output;
  const auto vertex = graph.add(make_vertex(graph, "result", std::move(inputs), std::move(einsum)));
  if (distinct.size() == places.size()) return vertex;
  return embed_diagonals(graph, vertex, distinct, places);
}

VertexId embed_diagonals(EinGraph& graph, VertexId vertex, const Labels& distinct, const Labels& places) {
  EinSum einsum{
      .inputs = {distinct}, .output = {}, .aggregated = {}, .expression = nullptr, .aggregate = Aggregate::None};
  ScalarPtr on_diagonal;
  for (const auto label : places) {
    if (!contains(einsum.output, label)) {
      einsum.output.push_back(label);
      continue;
    }
    const auto copy = graph.labels().add(graph.labels().name(label), graph.labels().extent(label));
    einsum.output.push_back(copy);
    auto same = ScalarExpression::call(ScalarOp::Equal,
                                       {ScalarExpression::label_index(label), ScalarExpression::label_index(copy)});
    on_diagonal = on_diagonal == nullptr ? same : ScalarExpression::call(ScalarOp::And, {on_diagonal, same});
  }
  einsum.expression =
      ScalarExpression::call(ScalarOp::Case, {on_diagonal, ScalarExpression::operand(0), ScalarExpression::integer(0)});
  return graph.add(make_vertex(graph, graph.vertex(vertex).name + ".diagonal", {vertex}, std::move(einsum)));
}

}  // namespace eindb
