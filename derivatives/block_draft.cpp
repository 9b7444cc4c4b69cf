#include "derivatives/block_draft.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/error.hpp"
#include "tensor/block_form.hpp"

namespace eindb {

using algebra::choose;
using algebra::number;
using algebra::plus;
using algebra::times;

void refuse_block(const EinGraph& graph, const Vertex& vertex, const std::string& function, const std::string& why) {
  throw Error(ErrorKind::Type,
              function + " has no derivative, and " + definition_of(graph, vertex.name) + " depends on it",
              std::nullopt, why);
}

ScalarPtr index_of(Label label) { return ScalarExpression::label_index(label); }
ScalarPtr compared(ScalarOp op, Label a, Label b) { return ScalarExpression::call(op, {index_of(a), index_of(b)}); }

BlockDraft::BlockDraft(EinGraph& graph, VertexId id, std::string name)
    : graph_(graph),
      id_(id),
      vertex_(graph.vertex(id)),
      name_(std::move(name)),
      type_(!is_of_matrices(vertex_.einsum.block->op) ? derivative_type(vertex_.compute_dtype)
            : is_complex(vertex_.compute_dtype)       ? DType::Complex128
                                                      : DType::Float64),
      core_(core_of(vertex_.einsum, 0)),
      result_core_(result_core_of(vertex_.einsum)) {}

Labels BlockDraft::replaced(Labels labels, const Labels& core, const Labels& others) {
  CHECK(core.size() == others.size(), "core labels are replaced one by one");
  for (auto& label : labels) {
    const auto found = std::find(core.begin(), core.end(), label);
    if (found != core.end()) label = others[static_cast<std::size_t>(found - core.begin())];
  }
  return labels;
}

Labels BlockDraft::result_labels(const Labels& core) const {
  return replaced(vertex_.einsum.output, result_core_, core);
}

LabelledVertex BlockDraft::operand(const Labels& core) const {
  return {vertex_.inputs[0], replaced(vertex_.einsum.inputs[0], core_, core)};
}

LabelledVertex BlockDraft::in_order() { return contraction(with_batch(core_), {operand(core_)}); }

Labels BlockDraft::batch() const { return difference(vertex_.einsum.inputs[0], core_); }

Labels BlockDraft::with_batch(const Labels& more) const {
  auto labels = batch();
  labels.insert(labels.end(), more.begin(), more.end());
  return labels;
}

LabelledVertex BlockDraft::tangent_of(std::size_t n, const Tangents& tangents) {
  const auto& labels = vertex_.einsum.inputs[n];
  const auto head = DistinctLabels(labels).labels();
  VertexDraft draft(graph_);
  const auto read = draft.read(*tangents[n], labels);
  const auto made = draft.sum(next_name(), head, head, read, type_);
  return {made && made->vertex ? *made->vertex : materialize(graph_, next_name(), head, made, type_), head};
}

std::optional<Derivative> BlockDraft::contracted(const std::string& name, const Labels& output,
                                                 const std::vector<LabelledVertex>& factors, double sign) {
  VertexDraft draft(graph_);
  ScalarPtr product = sign == 1 ? nullptr : number(sign);
  DistinctLabels domain(output);
  for (const auto& [vertex, labels] : factors) {
    auto read = draft.read(vertex, labels);
    product = product == nullptr ? std::move(read) : times(product, read);
    domain.add(labels);
  }
  return draft.sum(name, output, domain.labels(), product, type_);
}

LabelledVertex BlockDraft::contraction(const Labels& output, const std::vector<LabelledVertex>& factors, double sign) {
  return {*contracted(next_name(), output, factors, sign)->vertex, output};
}

LabelledVertex BlockDraft::sum_of(const Labels& output, const LabelledVertex& a, const LabelledVertex& b, double sign) {
  return mapped(output, {a, b}, [&](const std::vector<ScalarPtr>& read) {
    return sign == 1 ? plus(read[0], read[1]) : algebra::minus(read[0], read[1]);
  });
}

LabelledVertex BlockDraft::block(BlockOp op, const Labels& output, const std::vector<LabelledVertex>& operands,
                                 const std::vector<std::size_t>& ranks) {
  EinSum einsum{.inputs = {},
                .output = output,
                .aggregated = {},
                .expression = nullptr,
                .aggregate = Aggregate::Block,
                .block = BlockFunction{.op = op}};
  std::vector<VertexId> inputs;
  for (std::size_t n = 0; n < operands.size(); ++n) {
    auto labels = operands[n].labels;
    for (auto d = labels.size() - ranks[n]; d < labels.size(); ++d) {
      labels[d] = fresh(labels[d]);
      einsum.aggregated.push_back(labels[d]);
    }
    einsum.inputs.push_back(std::move(labels));
    inputs.push_back(operands[n].vertex);
  }
  auto core = einsum.aggregated;
  for (const auto label : output)
    if (!contains(batch(), label)) core.push_back(label);
  einsum.expression = block_expression(inputs.size(), core);
  return {graph_.add(make_vertex(graph_, next_name(), std::move(inputs), std::move(einsum), type_)), output};
}

LabelledVertex BlockDraft::shifted(const LabelledVertex& factor, Label from, Label to, std::int64_t distance) {
  const auto& [vertex, labels] = factor;
  return {eindb::shifted(graph_, next_name(), vertex, labels, from, to, distance, type_),
          replaced(labels, {from}, {to})};
}

LabelledVertex BlockDraft::at_index(const LabelledVertex& factor, Label label, std::int64_t index) {
  const auto output = difference(factor.labels, {label});
  VertexDraft draft(graph_);
  const auto value = draft.read(factor.vertex, factor.labels);
  const auto is_there = ScalarExpression::call(ScalarOp::Equal, {index_of(label), ScalarExpression::integer(index)});
  const auto here = ScalarExpression::call(ScalarOp::Case, {is_there, value, ScalarExpression::integer(0)});
  return {*draft.sum(next_name(), output, factor.labels, here, type_)->vertex, output};
}

std::optional<Derivative> BlockDraft::lower_triangle(const LabelledVertex& m) {
  VertexDraft draft(graph_);
  const auto here = draft.read(m.vertex, m.labels);
  const auto there = draft.read(m.vertex, replaced(m.labels, core_, {core_[1], core_[0]}));
  const auto value = choose(compared(ScalarOp::Greater, core_[0], core_[1]), plus(here, there),
                            choose(compared(ScalarOp::Equal, core_[0], core_[1]), here, nullptr));
  return draft.sum(name_, vertex_.einsum.inputs[0], vertex_.einsum.inputs[0], value, type_);
}

LabelledVertex BlockDraft::symmetric(const LabelledVertex& m) {
  const LabelledVertex turned{m.vertex, replaced(m.labels, core_, {core_[1], core_[0]})};
  return mapped(with_batch(core_), {m, turned}, [&](const std::vector<ScalarPtr>& read) {
    return choose(compared(ScalarOp::GreaterEqual, core_[0], core_[1]), read[0], read[1]);
  });
}

}  // namespace eindb
