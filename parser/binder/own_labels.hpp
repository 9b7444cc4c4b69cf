#pragma once

#include <cstdint>

#include "parser/ast.hpp"

namespace eindb {

/// Whether there is a CONCAT in `e`.
bool concatenates(const ast::Expression& e);

/// Gives the label of each CONCAT a scope of its own in each argument (ast::Aggregate::own): a label has one extent
/// throughout a statement, and the parts of a concatenation have extents of their own. So
///     CONCAT[i](X[i,j], Y[i,j])
/// reads X[i',j] and Y[i'',j], and i has the sum of the extents of i' and i''. `next_scope` numbers scopes, as for
/// macros, which are expanded before. Error{Label} unless every CONCAT names one label.
ast::Expression with_own_labels(ast::Expression e, std::uint32_t& next_scope);

}  // namespace eindb
