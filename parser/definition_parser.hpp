#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "parser/ast.hpp"
#include "parser/token_stream.hpp"
#include "parser/tokenizer.hpp"

namespace eindb {

/// Whether the next tokens begin the head of a definition: a name followed by '[' or '='.
bool starts_head(Tokenizer ahead);

/// Z[i,k] = expression.
ast::Definition parse_definition(TokenStream& tokens);

/// X[i,j] = e, X[0:10,j] = e or X[i,j] += e in UPDATE TENSOR; -=, *= and /= likewise. A definition of a region has no
/// labels.
std::pair<ast::Definition, ast::Region> parse_update(TokenStream& tokens);

/// The hint if no definition's name is found: EINSUM('ij,jk', X, Y) and EINSUM ij,jk->ik (X, Y) are NumPy habits.
inline constexpr const char* kSubscriptForm = "subscripts stand in plain quotes: EINSUM 'ij,jk->ik' (X, Y)";

}  // namespace eindb
