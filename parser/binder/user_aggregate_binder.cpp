// Aggregates of users: what two values are combined with becomes an expression of two operands.
#include <algorithm>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"
#include "parser/ast_children.hpp"
#include "parser/binder/expression_binder.hpp"
#include "parser/expression_words.hpp"
#include "parser/foreign_words.hpp"
#include "tensor/scalar_types.hpp"
#include "tensor/user_aggregate.hpp"

namespace eindb {
namespace {

// A macro that the combination calls may have been replaced since the aggregate was created, by one that reads tensors.
void check_combination(const ast::Expression& e, const std::string& name) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::Value, "aggregate " + name + " " + what, e.span,
                "it combines two values by scalar operations alone");
  };
  if (const auto* used = std::get_if<ast::Name>(&e.node); used != nullptr && used->name.scope != ast::kCombinedScope)
    refuse("reads " + used->name.text + ", which is none of its two values");
  if (const auto* reference = std::get_if<ast::Reference>(&e.node)) refuse("reads the tensor " + reference->name.text);
  if (std::holds_alternative<ast::Aggregate>(e.node)) refuse("aggregates inside");
  if (std::holds_alternative<ast::Cast>(e.node)) refuse("has a CAST, but its type is that of the values");
  if (std::holds_alternative<ast::Parameter>(e.node)) refuse("reads a parameter of a prepared statement");
  if (const auto* call = std::get_if<ast::Call>(&e.node); call != nullptr && find_generator(call->function.text))
    refuse("draws random numbers");
  for_each_child(e, [&](const ast::Expression& child) { check_combination(child, name); });
}

}  // namespace

// Error{UnknownName} for what looks like an aggregate, and is none.
void ExpressionBinder::require_defined(const ast::Aggregate& e) const {
  CHECK(e.name.has_value(), "an aggregate of a user has a name");
  if (e.definition != nullptr) return;
  if (tensors_.find(*e.name)) {
    throw Error(ErrorKind::UnknownName, e.name->text + " is a tensor, not an aggregate", e.name->span,
                "write * for a product; labels stand in brackets: X[i,j]");
  }
  if (auto hint = hint_for_function(e.name->text); !hint.empty())
    throw Error(ErrorKind::UnknownName, "there is no aggregate " + e.name->text, e.name->span, std::move(hint));
  auto candidates = macro_names_();
  for (const auto& macro : candidates) {
    if (!equal_ignoring_case(macro, e.name->text)) continue;
    const auto label = e.labels && !e.labels->empty() ? e.labels->front().label.text : "j";
    throw Error(ErrorKind::UnknownName, e.name->text + " is a macro, not an aggregate", e.name->span,
                "its labels are arguments: " + macro + "(x, " + label + ")");
  }
  for (const auto name : aggregate_names()) candidates.emplace_back(name);
  const auto nearest = nearest_name(e.name->text, candidates);
  throw Error(
      ErrorKind::UnknownName, "there is no aggregate " + e.name->text, e.name->span,
      nearest ? "did you mean " + *nearest + "?" : "SHOW AGGREGATES lists those of users; write * for a product");
}

UserAggregatePtr ExpressionBinder::user_aggregate(const ast::Aggregate& e) {
  require_defined(e);
  const auto& [name, combination, clauses, joins] = *e.definition;
  check_combination(combination, name);
  check_combination(clauses.initial, name);
  Draft draft;
  UserAggregate user;
  user.name = name;
  user.combination = lower(combination, draft);
  user.initial = lower(clauses.initial, draft);
  CHECK(draft.inputs.empty() && operands_of(*user.initial).empty(), "an aggregate reads no tensors");
  user.commutative = clauses.commutative;
  user.associative = clauses.associative;
  user.idempotent = clauses.idempotent;
  for (const auto& [word, is_macro] : clauses.distributes_over) {
    if (is_macro || !user.may_split()) continue;
    const auto join = find_join_function(word.text);
    CHECK(join.has_value(), "the parser knows the words of DISTRIBUTES OVER");
    user.semirings.push_back(declared_semiring(*join, user.idempotent));
  }
  for (const auto& [macro, body] : joins) {
    check_combination(body, name);
    auto function = lower(body, draft);
    // A function that depends on one of its values alone joins nothing.
    if (user.may_split() && operands_of(*function).size() == 2)
      user.semirings.push_back(declared_semiring(JoinFunction(macro, std::move(function)), user.idempotent));
  }
  return std::make_shared<const UserAggregate>(std::move(user));
}

ExpressionBinder::Reduced ExpressionBinder::reduce_by(UserAggregatePtr user, EinSum einsum, Draft inner,
                                                      SourceSpan span) {
  const auto types = input_types(graph_, inner.inputs);
  const auto type = with_place(span, [&] {
    const auto wanted = fold_type(*user, type_of(*einsum.expression, types).dtype);
    typed_combination(*user, wanted);  // for its errors
    return wanted;
  });
  if (einsum.aggregate != Aggregate::None) einsum.user = with_join_types(user, type);
  return {add_vertex(std::move(inner), std::move(einsum), span, type)};
}

}  // namespace eindb
