#pragma once

#include <string>
#include <vector>

#include "parser/ast.hpp"

namespace eindb {

/// The name of a gradient's derivative: the given one, or "d" and the variable's name.
ast::Identifier derivative_name(const ast::GradientVariable& variable);
/// The same for a JVP: the default is "d" and the name of the function.
ast::Identifier derivative_name(const ast::Jvp& jvp);

/// The names of a query's results, in order: "Z" for EINSUM Z[i] = ..., "result" for subscript notation. At least one;
/// as many as BoundQuery::results.
std::vector<std::string> result_names(const ast::Query& query);

}  // namespace eindb
