#pragma once

#include "parser/ast.hpp"
#include "parser/token_stream.hpp"
#include "parser/tokenizer.hpp"

namespace eindb {

/// Whether a query of ours starts at the tokenizer's next token, `EINSUM ...`, `GRADIENT OF ...`, `JVP OF ...` or
/// `WITH x[i] = ...`, as against SQL, which may use these words as names and has its own WITH. Also true for queries
/// with mistakes further on.
bool starts_query(Tokenizer ahead);
/// Whether what follows UPDATE is a TENSOR and its new value, as against SQL, which may have a table of this name.
bool starts_tensor_update(Tokenizer after_update);

/// [WITH items] EINSUM definition | 'subscripts' (operands) | (names), or GRADIENT OF ..., or JVP OF ...
/// [USING PATH ...]. Stops before what follows.
ast::Query parse_query(TokenStream& tokens);
/// The same, or [WITH items] UPDATE TENSOR definition, definition, ... [USING PATH ...].
ast::Query parse_query_or_update(TokenStream& tokens);
/// The same as parse_query, where only one result has a place.
ast::Query parse_query_of_one(TokenStream& tokens);

}  // namespace eindb
