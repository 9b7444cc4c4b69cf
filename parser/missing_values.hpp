#pragma once

#include "parser/ast.hpp"

namespace eindb {

/// e IS NULL, or IS NOT NULL: whether e is NaN, which is what SQL has NULL for (docs/language.md, "Missing values").
ast::Expression null_test(ast::Expression e, bool negated, SourceSpan span);

/// SUM[j](e) FILTER (WHERE condition): the aggregate of the values for which the condition holds. The others become
/// what the aggregate leaves unchanged, and MEAN divides by the number of those that are left. Error{Syntax} for an
/// aggregate that has no such value.
ast::Expression with_filter(ast::Aggregate aggregate, ast::Expression condition, SourceSpan span);

}  // namespace eindb
