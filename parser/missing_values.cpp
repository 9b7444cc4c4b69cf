#include "parser/missing_values.hpp"

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/error.hpp"

namespace eindb {
namespace {

using ast::AggregateOp;
using ast::Expression;
using ast::InfixOp;

Expression infix_of(InfixOp op, Expression left, Expression right, SourceSpan span) {
  ast::Infix node;
  node.operators.push_back(op);
  node.operands.push_back(std::move(left));
  node.operands.push_back(std::move(right));
  return {std::move(node), span};
}

Expression chosen(Expression condition, Expression value, Expression otherwise, SourceSpan span) {
  ast::Case node;
  node.branches.push_back({std::move(condition), std::move(value)});
  node.otherwise.push_back(std::move(otherwise));
  return {std::move(node), span};
}

Expression whole(std::int64_t value, SourceSpan span) { return {ast::Integer{value}, span}; }
Expression real(double value, SourceSpan span) { return {ast::Real{value}, span}; }

/// The value that takes the place of one that FILTER leaves out: the identity of the aggregate; nullopt if it has none.
std::optional<Expression> neutral_value(AggregateOp op, SourceSpan span) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (op) {
    case AggregateOp::Sum:
    case AggregateOp::Mean:
    case AggregateOp::Norm:
    case AggregateOp::Any:
    case AggregateOp::CountNonzero: return whole(0, span);
    case AggregateOp::Prod:
    case AggregateOp::All: return whole(1, span);
    case AggregateOp::Min: return real(kInfinity, span);
    case AggregateOp::Max:
    case AggregateOp::LogSumExp: return real(-kInfinity, span);
    default: return std::nullopt;
  }
}

/// The number of cells for which the condition holds, by an aggregate of ones. The argument gives labels, and counts
/// whatever its value is.
Expression count_where(ast::Aggregate aggregate, AggregateOp op, Expression condition, SourceSpan span) {
  auto argument = std::move(aggregate.argument.front());
  auto same = infix_of(InfixOp::Equal, argument, argument, span);
  auto one = chosen(std::move(same), whole(1, span), whole(1, span), span);
  aggregate.op = op;
  aggregate.argument.clear();
  aggregate.argument.push_back(chosen(std::move(condition), std::move(one), whole(0, span), span));
  return {std::move(aggregate), span};
}

}  // namespace

Expression null_test(Expression e, bool negated, SourceSpan span) {
  auto same = e;
  return infix_of(negated ? InfixOp::Equal : InfixOp::NotEqual, std::move(e), std::move(same), span);
}

Expression with_filter(ast::Aggregate aggregate, Expression condition, SourceSpan span) {
  if (aggregate.op == AggregateOp::Count)
    return count_where(std::move(aggregate), AggregateOp::CountNonzero, std::move(condition), span);
  auto neutral = neutral_value(aggregate.op, span);
  if (!neutral || !aggregate.second.empty()) {
    throw Error(ErrorKind::Syntax, "there is no FILTER for this aggregate", span,
                "it is for SUM, PROD, MIN, MAX, MEAN, COUNT, COUNT_NONZERO, ANY, ALL, NORM, LOGSUMEXP, and SCAN of "
                "these");
  }
  std::optional<Expression> count;
  if (aggregate.op == AggregateOp::Mean) {
    count = count_where(aggregate, AggregateOp::Sum, condition, span);
    aggregate.op = AggregateOp::Sum;
  }
  auto& argument = aggregate.argument.front();
  argument = chosen(std::move(condition), std::move(argument), std::move(*neutral), span);
  Expression filtered{std::move(aggregate), span};
  return count ? infix_of(InfixOp::Divide, std::move(filtered), std::move(*count), span) : std::move(filtered);
}

}  // namespace eindb
