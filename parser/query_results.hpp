#pragma once

#include <string>
#include <vector>

#include "parser/ast.hpp"

namespace eindb {

/// The name of a derivative of a gradient: the one given, or "d" and the variable's.
ast::Identifier derivative_name(const ast::GradientVariable& variable);
/// Likewise of a JVP: "d" and the name of what is derived.
ast::Identifier derivative_name(const ast::Jvp& jvp);

/// What the results of a query are called, in order: "Z" of EINSUM Z[i] = ..., "result" in subscript notation. One at
/// least; as many as BoundQuery::results.
std::vector<std::string> result_names(const ast::Query& query);

}  // namespace eindb
