#include "optimizer/rewrites/separable_sum.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "optimizer/rewrites/factors.hpp"
#include "optimizer/rewrites/term_groups.hpp"
#include "tensor/algebra.hpp"

namespace eindb {
namespace {

bool is_sum(const ScalarExpression& e) { return e.is_call(ScalarOp::Add) || e.is_call(ScalarOp::Subtract); }

// The terms of a sum, or of a sum times constants; empty for other expressions.
std::vector<ScalarPtr> terms_of(const ScalarPtr& e) {
  auto factors = factors_of(e);
  std::optional<std::size_t> sum;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (factors[f].expression->is_constant()) continue;
    if (sum || factors[f].inverted || !is_sum(*factors[f].expression)) return {};
    sum = f;
  }
  if (!sum) return {};
  std::vector<ScalarPtr> terms;
  for (const auto& [term, negative] : factors_of(factors[*sum].expression, ScalarOp::Add))
    terms.push_back(negative ? ScalarExpression::call(ScalarOp::Negate, {term}) : term);
  if (factors.size() == 1) return terms;
  for (auto& term : terms) {
    factors[*sum].expression = term;
    term = joined(factors);
  }
  return terms;
}

// The sum of the terms of a group. A minus sign becomes a subtraction, unless many terms would nest too deeply.
ScalarPtr sum_of(const std::vector<ScalarPtr>& terms) {
  constexpr std::size_t kMany = 64;
  CHECK(!terms.empty(), "a group that is summed has a term");
  if (terms.size() > kMany) return ScalarExpression::call(ScalarOp::Add, terms);
  ScalarPtr sum;
  for (const auto& term : terms) {
    if (sum == nullptr) sum = term;
    else if (term->is_call(ScalarOp::Negate))
      sum = ScalarExpression::call(ScalarOp::Subtract, {sum, term->arguments()[0]});
    else sum = ScalarExpression::call(ScalarOp::Add, {sum, term});
  }
  return sum;
}

std::vector<ScalarPtr> terms_in(const TermGroup& group, const std::vector<ScalarPtr>& terms) {
  std::vector<ScalarPtr> out;
  for (const auto t : group.terms) out.push_back(terms[t]);
  return out;
}

// Whether a sum over more than two operands has a term that joins some of them. Such terms are contractions of their
// own; the sum of all of them would be computed for every cell of the join.
bool has_contractions(const VertexSplitter& splitter, const std::vector<ScalarPtr>& terms) {
  const auto joins = [](const ScalarPtr& term) { return operands_of(*term).size() > 1; };
  return splitter.vertex().inputs.size() > 2 && std::any_of(terms.begin(), terms.end(), joins);
}

// The groups of a vertex, if taking it apart is worthwhile: fewer cells are visited, or contractions become apparent.
std::optional<std::vector<TermGroup>> worthwhile_groups(const VertexSplitter& splitter,
                                                        const std::vector<ScalarPtr>& terms, bool contractions) {
  if (terms.size() < 2 || aggregates_nothing(splitter)) return std::nullopt;
  auto groups = group_terms(splitter, terms, contractions ? GroupBy::Operands : GroupBy::AggregatedLabels);
  if (!groups || groups->size() < 2) return std::nullopt;
  if (!contractions && cells_of(splitter, *groups) >= cells_of_join(splitter)) return std::nullopt;
  for (const auto& group : *groups)
    if (!multiplicity(splitter, group)) return std::nullopt;
  return groups;
}

}  // namespace

std::optional<VertexId> sum_terms_apart(VertexSplitter& splitter) {
  if (is_complex(splitter.vertex().compute_dtype)) return std::nullopt;
  const auto terms = terms_of(splitter.vertex().einsum.expression);
  const auto groups = worthwhile_groups(splitter, terms, has_contractions(splitter, terms));
  if (!groups) return std::nullopt;
  std::vector<ScalarPtr> sums;
  for (const auto& group : *groups) {
    auto sum = sum_of(terms_in(group, terms));
    if (!group.own.empty()) sum = splitter.add_part(sum, group.head, group.own, Aggregate::Sum);
    const auto count = *multiplicity(splitter, group);
    sums.push_back(count == 1 ? sum
                              : ScalarExpression::call(ScalarOp::Multiply, {ScalarExpression::integer(count), sum}));
  }
  return splitter.finish(sum_of(sums), {});
}

std::optional<VertexId> take_powers_last(VertexSplitter& splitter) {
  const auto& vertex = splitter.vertex();
  const auto whole = vertex.einsum.expression;
  const auto argument = multiplicative_argument(*whole, vertex.compute_dtype);
  if (!argument || aggregates_nothing(splitter)) return std::nullopt;
  auto arguments = whole->arguments();
  const auto inner = arguments[*argument];
  const auto labels = splitter.labels_of(*inner);
  const auto head = difference(labels, vertex.einsum.aggregated);
  const auto own = difference(labels, head);
  if (operands_of(*inner).empty() || own.size() != vertex.einsum.aggregated.size()) return std::nullopt;
  arguments[*argument] = splitter.add_part(inner, head, own, Aggregate::Prod);
  return splitter.finish(ScalarExpression::call(whole->op(), std::move(arguments)), {});
}

std::optional<VertexId> multiply_factors_apart(VertexSplitter& splitter) {
  if (splitter.vertex().compute_dtype != DType::Int64) return std::nullopt;
  std::vector<ScalarPtr> factors;
  for (const auto& factor : factors_of(splitter.vertex().einsum.expression)) {
    if (factor.inverted) return std::nullopt;
    factors.push_back(factor.expression);
  }
  const auto groups = worthwhile_groups(splitter, factors, false);
  if (!groups) return std::nullopt;
  std::vector<ScalarPtr> powers;
  for (const auto& group : *groups) {
    const auto inside = terms_in(group, factors);
    auto product = inside.size() == 1 ? inside[0] : ScalarExpression::call(ScalarOp::Multiply, inside);
    if (!group.own.empty()) product = splitter.add_part(product, group.head, group.own, Aggregate::Prod);
    const auto count = *multiplicity(splitter, group);
    powers.push_back(count == 1 ? product
                                : ScalarExpression::call(ScalarOp::Power, {product, ScalarExpression::integer(count)}));
  }
  return splitter.finish(ScalarExpression::call(ScalarOp::Multiply, powers), {});
}

}  // namespace eindb
