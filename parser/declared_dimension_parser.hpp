#pragma once

#include "parser/ast.hpp"
#include "parser/token_stream.hpp"

namespace eindb {

/// Parses a dimension of CREATE TENSOR or EXTEND: "i 1000", "city IN ('Oslo', 'Bergen')", "city IN (SELECT ...)", or
/// "day FROM '2024-01-01' TO '2024-12-31' STEP '1 day'". Throws Error{Syntax} with the place.
ast::DeclaredDimension parse_declared_dimension(TokenStream& tokens);

}  // namespace eindb
