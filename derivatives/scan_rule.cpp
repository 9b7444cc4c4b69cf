#include "derivatives/scan_rule.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "common/check.hpp"
#include "derivatives/scalar_algebra.hpp"
#include "derivatives/scalar_derivative.hpp"
#include "tensor/block_form.hpp"
#include "tensor/scan_form.hpp"
#include "tensor/user_aggregate.hpp"

namespace eindb {
namespace {

using algebra::choose;
using algebra::minus;
using algebra::number;
using algebra::over;
using algebra::times;

constexpr double kBeyondAll = std::numeric_limits<double>::infinity();

Labels with_label_in_place(Labels labels, Label from, Label to) {
  std::replace(labels.begin(), labels.end(), from, to);
  return labels;
}

ScalarPtr are_equal(const ScalarPtr& a, const ScalarPtr& b) { return ScalarExpression::call(ScalarOp::Equal, {a, b}); }

// Each step combines what has been aggregated before it, p, with one value, x, to c.
class RunningAggregate {
 public:
  RunningAggregate(EinGraph& graph, VertexId id, std::string name)
      : graph_(graph),
        vertex_(graph.vertex(id)),
        name_(std::move(name)),
        type_(derivative_type(vertex_.dtype)),
        form_(*scan_form(vertex_.einsum, vertex_.compute_dtype)),
        head_(vertex_.einsum.output) {
    CHECK(is_running_aggregate(vertex_), "the rule of running aggregates is for these");
    // In the order of the head, so that all values have the same labels.
    values_ = add([&](VertexDraft& draft) { return draft.read(vertex_.inputs[0], argument_labels()); });
    const auto step = form_.forward ? 1 : -1;
    before_ = form_.inclusive ? moved(id, -step, of_nothing()) : id;
    after_ = form_.inclusive ? id : moved(id, step, number(kBeyondAll));
    find_slopes(id);
    // The recurrences multiply by a[t] before t, or from the last on by a[t+1] after it.
    const bool as_they_are = form_.inclusive == form_.forward;
    factors_ = as_they_are ? by_before_ : moved(by_before_, -1, nullptr);
  }

  // With y[t] = g[t] + f1[t+1] * y[t+1] it is dx[t] = y[t] * f2[t].
  std::optional<Derivative> pull_back(const Derivative& cotangent) {
    const auto g = materialize(graph_, next_name(), head_, cotangent, type_);
    auto y = recurrence(g, factors_, form_.forward);
    if (!form_.inclusive) y = moved(y, form_.forward ? 1 : -1, nullptr);
    VertexDraft draft(graph_);
    const auto product = times(draft.read(y, head_), draft.read(by_value_, head_));
    return draft.sum(name_, argument_labels(), head_, product, type_);
  }

  // dc[t] = f1[t] * dc[t-1] + f2[t] * dx[t].
  std::optional<Derivative> push_forward(const Derivative& tangent) {
    auto step = add([&](VertexDraft& draft) {
      const auto changed = draft.read(tangent, argument_labels());
      return times(changed, draft.read(by_value_, head_));
    });
    if (!form_.inclusive) step = moved(step, form_.forward ? -1 : 1, nullptr);
    return Derivative{.vertex = recurrence(step, factors_, !form_.forward)};
  }

 private:
  std::string next_name() { return name_ + "." + std::to_string(++made_); }

  Labels argument_labels() const { return with_label_in_place(vertex_.einsum.inputs[0], form_.along, form_.upto); }

  // The value of no cells, beside ELSE.
  ScalarPtr of_nothing() const {
    if (vertex_.einsum.user != nullptr) return vertex_.einsum.user->initial;
    switch (vertex_.einsum.aggregate) {
      case Aggregate::Prod: return number(1);
      case Aggregate::Min: return number(kBeyondAll);
      default: return number(-kBeyondAll);
    }
  }

  template <class Expression>
  VertexId add(Expression&& expression) {
    VertexDraft draft(graph_);
    const auto value = expression(draft);
    const auto name = next_name();
    const auto made = draft.sum(name, head_, head_, value, type_);
    return made && made->vertex ? *made->vertex : materialize(graph_, name, head_, made, type_);
  }

  // The derivatives f1 and f2.
  void find_slopes(VertexId id) {
    const auto& einsum = vertex_.einsum;
    switch (einsum.aggregate) {
      case Aggregate::Prod:
        by_before_ = values_;
        by_value_ = before_;
        return;
      case Aggregate::LogSumExp:
        by_before_ = share_of(before_);
        by_value_ = share_of(values_);
        return;
      case Aggregate::Min:
      case Aggregate::Max: {
        graph_.set_compared(id);
        const auto stays = is_after(before_);
        const auto is_taken = is_after(values_);
        // Values that are equal have equal shares: of those so far, `count` are c.
        const auto factors = form_.forward ? stays : moved(stays, -1, nullptr);
        const auto count = recurrence(is_taken, factors, !form_.forward);
        by_value_ = add([&](VertexDraft& draft) {
          const auto taken = draft.read(is_taken, head_);
          return over(taken, at_least_one(draft.read(count, head_)));
        });
        by_before_ = add([&](VertexDraft& draft) {
          const auto kept = draft.read(stays, head_);
          const auto all = draft.read(count, head_);
          return times(kept, over(minus(all, draft.read(is_taken, head_)), at_least_one(all)));
        });
        return;
      }
      default: break;
    }
    CHECK(einsum.user != nullptr, "sums are linear");
    by_before_ = slope_of_combination(form_.forward ? 0 : 1);
    by_value_ = slope_of_combination(form_.forward ? 1 : 0);
  }

  static ScalarPtr at_least_one(const ScalarPtr& count) {
    return ScalarExpression::call(ScalarOp::Greatest, {count, number(1)});
  }

  // The share in a sum of exponentials; nothing where all are 0.
  VertexId share_of(VertexId part) {
    return add([&](VertexDraft& draft) {
      const auto value = draft.read(part, head_);
      const auto total = draft.read(after_, head_);
      return choose(are_equal(total, number(-kBeyondAll)), nullptr,
                    ScalarExpression::call(ScalarOp::Exp, {minus(value, total)}));
    });
  }

  // 1 where the value is c, and 0 elsewhere.
  VertexId is_after(VertexId part) {
    return add([&](VertexDraft& draft) {
      const auto value = draft.read(part, head_);
      return choose(are_equal(value, draft.read(after_, head_)), number(1), nullptr);
    });
  }

  VertexId slope_of_combination(std::size_t operand) {
    const std::array types{type_, type_};
    auto slope = pushforward({typed_combination(*vertex_.einsum.user, type_), operand, types}, number(1));
    return add([&](VertexDraft& draft) {
      if (slope == nullptr) return slope;
      const auto before = draft.read(before_, head_);
      const auto value = draft.read(values_, head_);
      return substitute_operands(slope, [&](std::size_t n) { return (n == 0) == form_.forward ? before : value; });
    });
  }

  // The values `distance` indices further along the label of the results; `outside` (null for 0) where there is none.
  VertexId moved(VertexId values, std::int64_t distance, const ScalarPtr& outside) {
    const auto along = form_.upto;
    const auto extent = graph_.labels().extent(along);
    const auto read = graph_.labels().add(graph_.labels().name(along), extent);
    const auto found =
        shifted(graph_, next_name(), values, with_label_in_place(head_, along, read), read, along, distance, type_);
    if (outside == nullptr) return found;
    return add([&](VertexDraft& edge) {
      const auto inside = edge.read(found, head_);
      const auto first = ScalarExpression::integer(distance < 0 ? 0 : extent - 1);
      return ScalarExpression::call(ScalarOp::Case,
                                    {are_equal(ScalarExpression::label_index(along), first), outside, inside});
    });
  }

  // h[t] = a[t] * h[t-1] + values[t], or from the last on h[t] = a[t+1] * h[t+1] + values[t], with a the factors.
  VertexId recurrence(VertexId values, VertexId factors, bool descending) {
    const auto along = form_.upto;
    const auto read = graph_.labels().add(graph_.labels().name(along), graph_.labels().extent(along));
    const auto labels = with_label_in_place(head_, along, read);
    EinSum einsum{.inputs = {labels, labels},
                  .output = head_,
                  .aggregated = {read},
                  .expression = block_expression(2, {read, along}),
                  .aggregate = Aggregate::Block,
                  .block = BlockFunction{.op = BlockOp::SumRecurrence, .descending = descending}};
    return graph_.add(make_vertex(graph_, next_name(), {values, factors}, std::move(einsum), type_));
  }

  EinGraph& graph_;
  Vertex vertex_;
  std::string name_;
  DType type_;
  ScanForm form_;
  Labels head_;
  VertexId values_;     // x
  VertexId before_;     // p: for each value the aggregate of those before it
  VertexId after_;      // c: with the value
  VertexId by_before_;  // the derivatives of c by p and x
  VertexId by_value_;
  VertexId factors_;  // of the recurrences
  int made_ = 0;
};

}  // namespace

bool is_running_aggregate(const Vertex& vertex) {
  return !vertex.is_input() && vertex.einsum.aggregate != Aggregate::Sum &&
         scan_form(vertex.einsum, vertex.compute_dtype).has_value();
}

std::optional<Derivative> pull_back_scan(EinGraph& graph, VertexId id, const Derivative& cotangent,
                                         const std::string& name) {
  return RunningAggregate(graph, id, name).pull_back(cotangent);
}

std::optional<Derivative> push_forward_scan(EinGraph& graph, VertexId id, const Derivative& tangent,
                                            const std::string& name) {
  return RunningAggregate(graph, id, name).push_forward(tangent);
}

}  // namespace eindb
