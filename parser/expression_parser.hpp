#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parser/ast.hpp"
#include "parser/token_stream.hpp"

namespace eindb {

/// Reads one expression and stops before the first token that cannot continue it. From loose to tight:
///
///     OR | AND | NOT | = == <> != < <= > >= (do not chain) | + - | * / % | unary - + | ^ (to the right)
///
/// so that -x^2 is -(x^2) and 2^-1 is 0.5. Throws Error{Syntax}, also where the tree would nest more than kMaxNesting
/// deep.
ast::Expression parse_expression(TokenStream& tokens);

/// Expressions with commas between them, up to and with the ')' that closes them; `whose` is for the message.
std::vector<ast::Expression> parse_arguments(TokenStream& tokens, std::string_view whose);

/// The parameter that comes next: $1 to $65535.
ast::Parameter parse_parameter(TokenStream& tokens);

/// SUM, PROD, ...: words that a function or a macro cannot have.
std::vector<std::string_view> aggregate_names();

/// Why something may be where an operator, a comma or the end is expected; empty if there is nothing to say.
std::string hint_after_expression(TokenStream& tokens);

}  // namespace eindb
