#pragma once

#include "parser/ast.hpp"
#include "parser/token_stream.hpp"
#include "parser/tokenizer.hpp"

namespace eindb {

/// Whether a query of eindb starts at the tokenizer's next token, `EINSUM ...`, `GRADIENT OF ...`, `JVP OF ...` or
/// `WITH x[i] = ...`, rather than SQL, which may use these words as names and has a WITH of its own. Also true for
/// queries with mistakes later on.
bool starts_query(Tokenizer ahead);
/// Whether UPDATE is followed by TENSOR and a new value, rather than by an SQL table named tensor.
bool starts_tensor_update(Tokenizer after_update);

/// Parses [WITH items] EINSUM definition | 'subscripts' (operands) | (names), or GRADIENT OF ..., or JVP OF ... [USING
/// PATH ...]. Stops before the following text.
ast::Query parse_query(TokenStream& tokens);
/// The same, or [WITH items] UPDATE TENSOR definition, definition, ... [USING PATH ...].
ast::Query parse_query_or_update(TokenStream& tokens);
/// Like parse_query, in a context that allows only one result.
ast::Query parse_query_of_one(TokenStream& tokens);

}  // namespace eindb
