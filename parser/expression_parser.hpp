#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parser/ast.hpp"
#include "parser/token_stream.hpp"

namespace eindb {

/// Parses one expression and stops before the first token that cannot continue it. Precedence, from low to high:
///
///     OR | AND | NOT | = == <> != < <= > >= (do not chain) | + - | * / % | unary - + | ^ (to the right)
///
/// so -x^2 is -(x^2) and 2^-1 is 0.5. Throws Error{Syntax}, also if the tree would nest more than kMaxNesting deep.
ast::Expression parse_expression(TokenStream& tokens);

/// Parses a tensor and its indices in brackets: X[0:10,j]. The next tokens are a name and '['.
ast::Expression parse_reference(TokenStream& tokens);

/// Parses comma-separated expressions and the closing ')'; `whose` is for the message.
std::vector<ast::Expression> parse_arguments(TokenStream& tokens, std::string_view whose);

/// A hint if the next token stands where an operator, a comma or the end is expected; empty if there is none.
std::string hint_after_expression(TokenStream& tokens);

}  // namespace eindb
