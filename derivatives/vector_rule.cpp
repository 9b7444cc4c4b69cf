#include "derivatives/vector_rule.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "common/check.hpp"
#include "derivatives/block_draft.hpp"
#include "derivatives/scalar_derivative.hpp"
#include "tensor/block_form.hpp"
#include "tensor/user_aggregate.hpp"

namespace eindb {
namespace {

class VectorRule : BlockDraft {
 public:
  VectorRule(EinGraph& graph, VertexId id, const std::string& name) : BlockDraft(graph, id, name) {}

  std::optional<Derivative> pull_back(std::size_t n, const Derivative& cotangent) {
    const auto g = materialize(graph_, next_name(), vertex_.einsum.output, cotangent, type_);
    if (vertex_.einsum.block->op == BlockOp::SumRecurrence) return recurrence_back(n, g);
    if (is_recurrence(vertex_.einsum.block->op)) return steps_back(n, g);
    if (vertex_.einsum.block->op == BlockOp::Quantile) {
      VertexDraft draft(graph_);
      const auto value = draft.read(g, vertex_.einsum.output);
      const auto passed = algebra::times(share_taken(draft), value);
      return draft.sum(name_, vertex_.einsum.inputs[0], vertex_.einsum.labels(), passed, type_);
    }
    const auto transformed = transform({g, vertex_.einsum.output}, result_core_.front(), core_.front());
    return contracted(name_, vertex_.einsum.inputs[0], {transformed});
  }

  std::optional<Derivative> push_forward(const Tangents& tangents) {
    if (vertex_.einsum.block->op == BlockOp::SumRecurrence) return recurrence_forward(tangents);
    if (is_recurrence(vertex_.einsum.block->op)) return steps_forward(tangents);
    if (vertex_.einsum.block->op == BlockOp::Quantile) {
      VertexDraft draft(graph_);
      const auto value = draft.read(*tangents[0], vertex_.einsum.inputs[0]);
      const auto taken = algebra::times(share_taken(draft), value);
      return draft.sum(name_, vertex_.einsum.output, vertex_.einsum.labels(), taken, type_);
    }
    const auto transformed = transform(tangent_of(0, tangents), core_.front(), result_core_.front());
    return contracted(name_, vertex_.einsum.output, {transformed});
  }

 private:
  // The share of each value in the quantile, which lies between two of them in their order.
  ScalarPtr share_taken(VertexDraft& draft) {
    std::int64_t count = 1;
    ScalarPtr number = ScalarExpression::integer(0);  // of a value among all of them
    for (const auto label : core_) {
      count *= extent(label);
      const auto scaled =
          ScalarExpression::call(ScalarOp::Multiply, {number, ScalarExpression::integer(extent(label))});
      number = ScalarExpression::call(ScalarOp::Add, {scaled, index_of(label)});
    }
    const auto place = vertex_.einsum.block->share * static_cast<double>(count - 1);
    const auto below = static_cast<std::int64_t>(place);
    const auto fraction = place - static_cast<double>(below);
    const auto order = order_of_first(std::min(below + 2, count));
    const auto share = [&](std::int64_t rank, double part) {
      const auto taken = draft.read(at_rank(order, rank), vertex_.einsum.output);
      const auto is_taken = ScalarExpression::call(ScalarOp::Equal, {taken, number});
      return algebra::choose(is_taken, algebra::number(part), algebra::number(0));
    };
    const auto lower = share(below, 1 - fraction);
    return fraction == 0 ? lower : algebra::plus(lower, share(below + 1, fraction));
  }
  // The numbers of the least values, along a label that comes last.
  LabelledVertex order_of_first(std::int64_t count) {
    auto labels = vertex_.einsum.output;
    labels.push_back(graph_.labels().add("rank", count));
    Labels read;
    for (const auto label : core_) read.push_back(fresh(label));
    auto named = read;
    named.push_back(labels.back());
    EinSum einsum{.inputs = {replaced(vertex_.einsum.inputs[0], core_, read)},
                  .output = labels,
                  .aggregated = read,
                  .expression = block_expression(1, named),
                  .aggregate = Aggregate::Block,
                  .block = BlockFunction{.op = BlockOp::Order}};
    return {graph_.add(make_vertex(graph_, next_name(), vertex_.inputs, std::move(einsum), DType::Int64)), labels};
  }
  VertexId at_rank(const LabelledVertex& order, std::int64_t rank) {
    const auto is_there =
        ScalarExpression::call(ScalarOp::Equal, {index_of(order.labels.back()), ScalarExpression::integer(rank)});
    EinSum einsum{.inputs = {order.labels},
                  .output = vertex_.einsum.output,
                  .aggregated = {order.labels.back()},
                  .expression = ScalarExpression::call(
                      ScalarOp::Case, {is_there, ScalarExpression::operand(0), ScalarExpression::integer(0)}),
                  .aggregate = Aggregate::Sum};
    return graph_.add(make_vertex(graph_, next_name(), {order.vertex}, std::move(einsum), DType::Int64));
  }

  // The same transform of other values, along the label `from`, to the label `to`.
  LabelledVertex transform(const LabelledVertex& values, Label from, Label to) {
    const auto read = fresh(from);
    const auto output = replaced(values.labels, {from}, {to});
    EinSum einsum{.inputs = {replaced(values.labels, {from}, {read})},
                  .output = output,
                  .aggregated = {read},
                  .expression = block_expression(1, {read, to}),
                  .aggregate = Aggregate::Block,
                  .block = vertex_.einsum.block};
    return {graph_.add(make_vertex(graph_, next_name(), {values.vertex}, std::move(einsum), type_)), output};
  }

  // The operand with the label of the result along which it runs.
  Labels recurring_labels(std::size_t n) const {
    return replaced(vertex_.einsum.inputs[n], {vertex_.einsum.aggregated.front()}, result_core_);
  }
  LabelledVertex recurring_tangent(std::size_t n, const Tangents& tangents) {
    auto tangent = tangent_of(n, tangents);
    tangent.labels = replaced(tangent.labels, {vertex_.einsum.aggregated.front()}, result_core_);
    return tangent;
  }

  // A linear recurrence of other values, or its transpose, with the factors of this one or others. `values` are read
  // with the labels of the head.
  LabelledVertex recurrence_of(VertexId values, bool transposed) {
    return recurrence_of(values, transposed, {vertex_.inputs[1], recurring_labels(1)});
  }
  LabelledVertex recurrence_of(VertexId values, bool transposed, const LabelledVertex& factors) {
    const auto& head = vertex_.einsum.output;
    const auto along = result_core_.front();
    const auto read = fresh(along);
    const BlockFunction block{.op = BlockOp::SumRecurrence,
                              .descending = vertex_.einsum.block->descending != transposed};
    EinSum einsum{.inputs = {replaced(head, {along}, {read}), replaced(factors.labels, {along}, {read})},
                  .output = head,
                  .aggregated = {read},
                  .expression = block_expression(2, {read, along}),
                  .aggregate = Aggregate::Block,
                  .block = block};
    return {graph_.add(make_vertex(graph_, next_name(), {values, factors.vertex}, std::move(einsum), type_)), head};
  }

  // The value `distance` indices before each one; 0 where there is none.
  LabelledVertex before(const LabelledVertex& values, std::int64_t distance) {
    const auto along = result_core_.front();
    const auto read = fresh(along);
    const auto moved = shifted({values.vertex, replaced(values.labels, {along}, {read})}, read, along, -distance);
    return {moved.vertex, values.labels};
  }

  // h[t] = a[t] h[t-1] + x[t]: with dx the transposed recurrence of dh, da[t] = dx[t] h[t-1].
  std::optional<Derivative> recurrence_back(std::size_t n, VertexId g) {
    const auto dx = recurrence_of(g, true);
    if (n == 0) return contracted(name_, recurring_labels(0), {dx});
    const LabelledVertex h{id_, vertex_.einsum.output};
    if (vertex_.einsum.block->descending) return contracted(name_, recurring_labels(1), {before(dx, 1), h});
    return contracted(name_, recurring_labels(1), {dx, before(h, 1)});
  }
  // The same recurrence of dx[t] + da[t] h[t-1]; of the transposed one, dx[t] + da[t+1] h[t+1].
  std::optional<Derivative> recurrence_forward(const Tangents& tangents) {
    const auto& head = vertex_.einsum.output;
    std::vector<LabelledVertex> terms;
    if (tangents[0]) terms.push_back(recurring_tangent(0, tangents));
    if (tangents[1]) {
      const LabelledVertex h{id_, head};
      terms.push_back(vertex_.einsum.block->descending
                          ? before(contraction(head, {recurring_tangent(1, tangents), h}), -1)
                          : contraction(head, {recurring_tangent(1, tangents), before(h, 1)}));
    }
    const auto all = mapped(head, terms, [](const std::vector<ScalarPtr>& read) {
      return read.size() == 1 ? read[0] : algebra::plus(read[0], read[1]);
    });
    return Derivative{.vertex = recurrence_of(all.vertex, false).vertex};
  }

  // Of h[t] = GREATEST(a[t] + h[t-1], x[t]) the share that goes on from h[t-1]: 1, or 0 where x[t] is greater, and half
  // where both are equal. Of LOGSUMEXP it is that in the sum of exponentials, 0 where all are 0.
  LabelledVertex kept() {
    CHECK(!vertex_.einsum.block->descending, "only linear recurrences are transposed");
    const auto op = vertex_.einsum.block->op;
    const LabelledVertex h{id_, vertex_.einsum.output};
    return mapped(
        vertex_.einsum.output, {argument(0), argument(1), before(h, 1), h}, [&](const std::vector<ScalarPtr>& read) {
          const auto moved = ScalarExpression::call(ScalarOp::Add, {read[1], read[2]});
          const auto is_first =
              ScalarExpression::call(ScalarOp::Equal, {index_of(result_core_.front()), ScalarExpression::integer(0)});
          const auto is_further = op == BlockOp::MaxRecurrence ? ScalarOp::Greater : ScalarOp::Less;
          const auto share =
              op == BlockOp::LogSumExpRecurrence
                  ? share_of_sum(moved, read[3])
                  : algebra::choose(ScalarExpression::call(is_further, {moved, read[0]}), algebra::number(1),
                                    algebra::choose(ScalarExpression::call(ScalarOp::Equal, {moved, read[0]}),
                                                    algebra::number(0.5), algebra::number(0)));
          return algebra::choose(is_first, algebra::number(0), share);
        });
  }
  // The share of x[t].
  LabelledVertex taken(const LabelledVertex& kept) {
    const auto& head = vertex_.einsum.output;
    if (vertex_.einsum.block->op == BlockOp::LogSumExpRecurrence)
      return mapped(head, {argument(0), {id_, head}},
                    [&](const std::vector<ScalarPtr>& read) { return share_of_sum(read[0], read[1]); });
    return mapped(head, {kept},
                  [](const std::vector<ScalarPtr>& read) { return algebra::minus(algebra::number(1), read[0]); });
  }
  LabelledVertex argument(std::size_t n) const { return {vertex_.inputs[n], recurring_labels(n)}; }
  static ScalarPtr share_of_sum(const ScalarPtr& value, const ScalarPtr& total) {
    const auto nothing =
        ScalarExpression::call(ScalarOp::Equal, {total, algebra::number(-std::numeric_limits<double>::infinity())});
    return algebra::choose(nothing, algebra::number(0),
                           ScalarExpression::call(ScalarOp::Exp, {algebra::minus(value, total)}));
  }
  // How fast h[t] changes with x[t], a[t] and h[t-1].
  struct Slopes {
    LabelledVertex value;
    LabelledVertex factor;
    LabelledVertex before;
  };
  Slopes slopes() {
    if (vertex_.einsum.block->op == BlockOp::UserRecurrence) return {slope(0), slope(1), slope(2)};
    const auto share = kept();
    return {taken(share), share, share};
  }
  // That of a user's aggregate with one of the operands of its step; h[0] is x[0].
  LabelledVertex slope(std::size_t operand) {
    const std::array types{type_, type_, type_};
    const auto changed =
        pushforward({recurrence_step(*vertex_.einsum.user, type_), operand, types}, algebra::number(1));
    const auto of_first = algebra::number(operand == 0 ? 1 : 0);
    return mapped(vertex_.einsum.output, {argument(0), argument(1), before({id_, vertex_.einsum.output}, 1)},
                  [&](const std::vector<ScalarPtr>& read) {
                    const auto is_first = ScalarExpression::call(
                        ScalarOp::Equal, {index_of(result_core_.front()), ScalarExpression::integer(0)});
                    if (changed == nullptr) return algebra::choose(is_first, of_first, algebra::number(0));
                    return algebra::choose(is_first, of_first,
                                           substitute_operands(changed, [&](std::size_t n) { return read[n]; }));
                  });
  }
  std::optional<Derivative> steps_back(std::size_t n, VertexId g) {
    const auto by = slopes();
    const auto passed = recurrence_of(g, true, by.before);
    return contracted(name_, recurring_labels(n), {passed, n == 0 ? by.value : by.factor});
  }
  std::optional<Derivative> steps_forward(const Tangents& tangents) {
    const auto& head = vertex_.einsum.output;
    const auto by = slopes();
    std::vector<LabelledVertex> terms;
    if (tangents[0]) terms.push_back(contraction(head, {recurring_tangent(0, tangents), by.value}));
    if (tangents[1]) terms.push_back(contraction(head, {recurring_tangent(1, tangents), by.factor}));
    const auto all = terms.size() == 1 ? terms.front() : sum_of(head, terms[0], terms[1]);
    return Derivative{.vertex = recurrence_of(all.vertex, false, by.before).vertex};
  }
};

}  // namespace

std::optional<Derivative> pull_back_vector(EinGraph& graph, VertexId id, std::size_t n, const Derivative& cotangent,
                                           const std::string& name) {
  return VectorRule(graph, id, name).pull_back(n, cotangent);
}

std::optional<Derivative> push_forward_vector(EinGraph& graph, VertexId id,
                                              const std::vector<std::optional<Derivative>>& tangents,
                                              const std::string& name) {
  return VectorRule(graph, id, name).push_forward(tangents);
}

}  // namespace eindb
