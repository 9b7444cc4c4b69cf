#include "derivatives/product_rule.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "derivatives/scalar_algebra.hpp"
#include "tensor/block_form.hpp"
#include "tensor/scan_form.hpp"

namespace eindb {
namespace {

using algebra::number;
using algebra::times;

Labels with_label(Labels labels, Label from, Label to) {
  std::replace(labels.begin(), labels.end(), from, to);
  return labels;
}

ScalarPtr where_equal(Label a, ScalarPtr b, ScalarPtr value, std::int64_t otherwise) {
  auto same = ScalarExpression::call(ScalarOp::Equal, {ScalarExpression::label_index(a), std::move(b)});
  return ScalarExpression::call(ScalarOp::Case,
                                {std::move(same), std::move(value), ScalarExpression::integer(otherwise)});
}

class RunningProduct {
 public:
  RunningProduct(EinGraph& graph, VertexId id, std::string name)
      : graph_(graph),
        vertex_(graph.vertex(id)),
        name_(std::move(name)),
        type_(derivative_type(vertex_.dtype)),
        form_(*scan_form(vertex_.einsum, vertex_.compute_dtype)),
        head_(vertex_.einsum.output),
        products_{id} {
    CHECK(is_running_product(vertex_), "the rule of running products is for these");
    // In the order of the head, so that all values have the same labels.
    VertexDraft draft(graph_);
    const auto labels = with_label(vertex_.einsum.inputs[0], form_.along, form_.upto);
    values_ = *draft.sum(next_name(), head_, head_, draft.read(vertex_.inputs[0], labels), type_)->vertex;
    if (form_.inclusive) {
      factors_ = form_.forward ? values_ : moved(values_, -1, 1);
      others_ = moved(products_, form_.forward ? -1 : 1, 1);
    } else {
      // Of the products of all before, the value that comes last is the one before, too.
      factors_ = form_.forward ? moved(values_, -1, 1) : values_;
      others_ = products_;
    }
  }

  // With y[t] = g[t] + x[t+1] * y[t+1] it is dx[t] = y[t] * c[t-1].
  std::optional<Derivative> pull_back(const Derivative& cotangent) {
    const auto g = materialize(graph_, next_name(), head_, cotangent, type_);
    auto y = recurrence(g, form_.forward);
    if (!form_.inclusive) y = moved(y, form_.forward ? 1 : -1, 0);
    VertexDraft draft(graph_);
    const auto product = times(draft.read(y, head_), draft.read(others_, head_));
    const auto output = with_label(vertex_.einsum.inputs[0], form_.along, form_.upto);
    return draft.sum(name_, output, head_, product, type_);
  }

  // dc[t] = x[t] * dc[t-1] + c[t-1] * dx[t].
  std::optional<Derivative> push_forward(const Derivative& tangent) {
    VertexDraft draft(graph_);
    const auto labels = with_label(vertex_.einsum.inputs[0], form_.along, form_.upto);
    const auto product = times(draft.read(tangent, labels), draft.read(others_, head_));
    auto step = materialize(graph_, next_name(), head_, draft.sum(next_name(), head_, head_, product, type_), type_);
    if (!form_.inclusive) step = moved(step, form_.forward ? -1 : 1, 0);
    return Derivative{.vertex = recurrence(step, !form_.forward)};
  }

 private:
  std::string next_name() { return name_ + "." + std::to_string(++made_); }

  // The values `distance` indices further along the label of the products; `outside` (0 or 1) where there is none.
  VertexId moved(VertexId values, std::int64_t distance, std::int64_t outside) {
    const auto along = form_.upto;
    const auto extent = graph_.labels().extent(along);
    const auto read = graph_.labels().add(graph_.labels().name(along), extent);
    const auto found =
        shifted(graph_, next_name(), values, with_label(head_, along, read), read, along, distance, type_);
    if (outside == 0) return found;
    VertexDraft edge(graph_);
    const auto inside = edge.read(found, head_);
    const auto first = ScalarExpression::integer(distance < 0 ? 0 : extent - 1);
    const auto whole = ScalarExpression::call(
        ScalarOp::Case,
        {ScalarExpression::call(ScalarOp::Equal, {ScalarExpression::label_index(along), first}), number(1), inside});
    return *edge.sum(next_name(), head_, head_, whole, type_)->vertex;
  }

  // h[t] = a[t] * h[t-1] + values[t], or from the last on h[t] = a[t+1] * h[t+1] + values[t], with a the factors.
  VertexId recurrence(VertexId values, bool descending) {
    const auto along = form_.upto;
    const auto read = graph_.labels().add(graph_.labels().name(along), graph_.labels().extent(along));
    const auto labels = with_label(head_, along, read);
    EinSum einsum{.inputs = {labels, labels},
                  .output = head_,
                  .aggregated = {read},
                  .expression = block_expression(2, {read, along}),
                  .aggregate = Aggregate::Block,
                  .block = BlockFunction{.op = BlockOp::SumRecurrence, .descending = descending}};
    return graph_.add(make_vertex(graph_, next_name(), {values, factors_}, std::move(einsum), type_));
  }

  EinGraph& graph_;
  Vertex vertex_;
  std::string name_;
  DType type_;
  ScanForm form_;
  Labels head_;
  VertexId products_;
  VertexId values_;
  VertexId factors_;  // of the recurrences
  VertexId others_;   // for each value the product of those before it
  int made_ = 0;
};

}  // namespace

bool is_running_product(const Vertex& vertex) {
  return !vertex.is_input() && vertex.einsum.aggregate == Aggregate::Prod &&
         scan_form(vertex.einsum, vertex.compute_dtype).has_value();
}

std::vector<VertexId> product_parts(EinGraph& graph, VertexId values, const Labels& aggregated, const Labels& output) {
  std::vector<VertexId> parts;
  auto last = values;
  auto labels = graph.vertex(values).einsum.output;
  const auto add = [&](const char* what, EinSum einsum) {
    const auto type = graph.vertex(values).dtype;
    const auto name = graph.vertex(values).name + what;
    last = graph.add(make_vertex(graph, name, {last}, std::move(einsum), type));
    parts.push_back(last);
  };
  std::int64_t times = 1;
  for (const auto label : difference(aggregated, labels)) times = checked_multiply(times, graph.labels().extent(label));
  const auto over = difference(aggregated, difference(aggregated, labels));
  if (times != 1 || over.empty())
    add(".power", {.inputs = {labels},
                   .output = over.empty() ? output : labels,
                   .aggregated = {},
                   .expression = algebra::power(ScalarExpression::operand(0), ScalarExpression::integer(times))});
  for (const auto label : over) {
    const auto upto = graph.labels().add(graph.labels().name(label), graph.labels().extent(label));
    auto running = with_label(labels, label, upto);
    auto before = ScalarExpression::call(ScalarOp::LessEqual,
                                         {ScalarExpression::label_index(label), ScalarExpression::label_index(upto)});
    add(".running",
        {.inputs = {labels},
         .output = running,
         .aggregated = {label},
         .expression = ScalarExpression::call(
             ScalarOp::Case, {std::move(before), ScalarExpression::operand(0), ScalarExpression::integer(1)}),
         .aggregate = Aggregate::Prod});
    const bool is_last = label == over.back();
    labels = is_last ? output : difference(running, {upto});
    const auto end = ScalarExpression::integer(graph.labels().extent(label) - 1);
    add(".product", {.inputs = {running},
                     .output = labels,
                     .aggregated = {upto},
                     .expression = where_equal(upto, end, ScalarExpression::operand(0), 0),
                     .aggregate = Aggregate::Sum});
  }
  return parts;
}

std::optional<Derivative> pull_back_product(EinGraph& graph, VertexId id, const Derivative& cotangent,
                                            const std::string& name) {
  return RunningProduct(graph, id, name).pull_back(cotangent);
}

std::optional<Derivative> push_forward_product(EinGraph& graph, VertexId id, const Derivative& tangent,
                                               const std::string& name) {
  return RunningProduct(graph, id, name).push_forward(tangent);
}

}  // namespace eindb
