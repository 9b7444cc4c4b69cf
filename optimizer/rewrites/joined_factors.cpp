#include "optimizer/rewrites/joined_factors.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "common/check.hpp"
#include "optimizer/rewrites/term_groups.hpp"
#include "optimizer/rewrites/truth_product.hpp"
#include "tensor/user_aggregate.hpp"

namespace eindb {
namespace {

// Finds the vertices without negative values, going back from those that are asked for.
class NonnegativeVertices {
 public:
  explicit NonnegativeVertices(const EinGraph& graph) : graph_(graph) {}

  bool contains(VertexId id) {
    std::vector<VertexId> waiting{id};
    while (!waiting.empty()) {
      const auto next = waiting.back();
      const auto& vertex = graph_.vertex(next);
      const auto unknown = [&](VertexId input) { return !known_.contains(input); };
      if (std::none_of(vertex.inputs.begin(), vertex.inputs.end(), unknown)) {
        known_.emplace(next, is_nonnegative_vertex(vertex));
        waiting.pop_back();
      } else {
        std::copy_if(vertex.inputs.begin(), vertex.inputs.end(), std::back_inserter(waiting), unknown);
      }
    }
    return known_.at(id);
  }

 private:
  // No aggregate of such values has others, except the least of none, numbers that wrap, and what a user defines.
  bool is_nonnegative_vertex(const Vertex& vertex) const {
    if (vertex.is_input() || vertex.compute_dtype == DType::Int64 || is_complex(vertex.compute_dtype)) return false;
    if (vertex.einsum.aggregate == Aggregate::Max && has_empty_label(vertex)) return false;
    if (vertex.einsum.user != nullptr) return false;
    std::vector<bool> operands;
    for (const auto input : vertex.inputs) operands.push_back(known_.at(input));
    if (!is_nonnegative(*vertex.einsum.expression, operands)) return false;
    return vertex.einsum.epilogue == nullptr || is_nonnegative(*vertex.einsum.epilogue, {true});
  }

  bool has_empty_label(const Vertex& vertex) const {
    const auto& aggregated = vertex.einsum.aggregated;
    return std::any_of(aggregated.begin(), aggregated.end(),
                       [&](Label label) { return graph_.labels().extent(label) == 0; });
  }

  const EinGraph& graph_;
  std::unordered_map<VertexId, bool> known_;
};

bool all_nonnegative(const VertexSplitter& splitter, const std::vector<Factor>& factors) {
  NonnegativeVertices nonnegative(splitter.graph());
  std::vector<bool> operands;
  for (const auto input : splitter.vertex().inputs) operands.push_back(nonnegative.contains(input));
  return std::all_of(factors.begin(), factors.end(), [&](const Factor& factor) {
    return factor.inverted ? has_nonnegative_reciprocal(*factor.expression, operands)
                           : is_nonnegative(*factor.expression, operands);
  });
}

// Where nothing is aggregated, a join function that is exact may be taken in any order.
std::optional<JoinedFactors> factors_without_aggregate(const Vertex& vertex) {
  for (const auto& semiring : all_semirings()) {
    if (semiring.exactness != Exactness::Exact || !holds_for(semiring, vertex.compute_dtype)) continue;
    auto factors = factors_of(vertex.einsum.expression, semiring.join);
    if (factors.size() > 1) return JoinedFactors{&semiring, std::move(factors)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<JoinedFactors> joined_factors(const VertexSplitter& splitter) {
  const auto& vertex = splitter.vertex();
  const auto aggregate = vertex.einsum.aggregate == Aggregate::None ? Aggregate::Sum : vertex.einsum.aggregate;
  if (vertex.einsum.aggregate == Aggregate::None)
    if (auto factors = factors_without_aggregate(vertex)) return factors;
  if (aggregate == Aggregate::Sum) {
    const auto* semiring = find_semiring(aggregate, ScalarOp::Multiply, vertex.compute_dtype);
    CHECK(semiring != nullptr, "sums distribute over products of every type");
    const auto truth = counted_truth(vertex.einsum.expression);
    if (vertex.einsum.aggregate == Aggregate::Sum && gives_boolean(*truth)) {
      const auto both = truth_factors(truth, true);
      if (both.size() > 1) return JoinedFactors{semiring, numerators(splitter, both)};
    }
    return JoinedFactors{semiring, factors_of(vertex.einsum.expression)};
  }
  if (aggregates_nothing(splitter)) return std::nullopt;
  const auto* user = vertex.einsum.user.get();
  for (const auto& semiring : user != nullptr ? std::span(user->semirings) : all_semirings()) {
    if (semiring.aggregate != aggregate || !holds_for(semiring, vertex.compute_dtype)) continue;
    auto factors = factors_of(vertex.einsum.expression, semiring.join);
    if (factors.size() < 2) continue;
    if (semiring.needs_nonnegative && !all_nonnegative(splitter, factors)) continue;
    return JoinedFactors{&semiring, std::move(factors)};
  }
  return std::nullopt;
}

namespace {

bool reads(const ScalarExpression& e, std::size_t n) {
  const auto operands = operands_of(e);
  return std::find(operands.begin(), operands.end(), n) != operands.end();
}

// Whether operand n is a factor of the expression by itself, and nothing else of it.
bool is_plain_factor(const ScalarPtr& expression, std::size_t n, const JoinFunction& join) {
  std::size_t plain = 0;
  for (const auto& factor : factors_of(expression, join)) {
    if (!reads(*factor.expression, n)) continue;
    if (factor.inverted || factor.expression->kind() != ScalarExpression::Kind::Operand) return false;
    ++plain;
  }
  return plain == 1;
}

bool is_plus_zero(const ScalarExpression& e) {
  return (e.kind() == ScalarExpression::Kind::Integer && e.integer_value() == 0) ||
         (e.kind() == ScalarExpression::Kind::Real && e.real_value() == 0 && !std::signbit(e.real_value()));
}

// The branch x of CASE WHEN c THEN x ELSE 0 END, or of CASE WHEN c THEN 0 ELSE x END, if the condition does not read
// operand n; null for other expressions.
ScalarPtr chosen_or_zero(const ScalarExpression& e, std::size_t n) {
  if (!e.is_call(ScalarOp::Case) || e.arguments().size() != 3 || reads(*e.arguments()[0], n)) return nullptr;
  if (is_plus_zero(*e.arguments()[2])) return e.arguments()[1];
  return is_plus_zero(*e.arguments()[1]) ? e.arguments()[2] : nullptr;
}

}  // namespace

bool distributes(const Vertex& vertex, std::size_t n, Aggregate aggregate) {
  if (vertex.einsum.aggregate != aggregate && vertex.einsum.aggregate != Aggregate::None) return false;
  auto expression = vertex.einsum.expression;
  if (aggregate == Aggregate::Sum) {
    if (auto chosen = chosen_or_zero(*expression, n)) {
      if (chosen->kind() == ScalarExpression::Kind::Operand) return chosen->operand() == n;
      expression = std::move(chosen);
    }
  }
  const auto& semirings = all_semirings();
  return std::any_of(semirings.begin(), semirings.end(), [&](const Semiring& semiring) {
    return semiring.aggregate == aggregate && !semiring.needs_nonnegative &&
           holds_for(semiring, vertex.compute_dtype) && is_plain_factor(expression, n, semiring.join);
  });
}

}  // namespace eindb
