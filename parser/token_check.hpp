#pragma once

#include <string_view>

#include "parser/token.hpp"

namespace eindb {

/// Throws Error{Syntax} for a token of kEindbRules that eindb's language does not allow: an unterminated string, name
/// or comment, a malformed number or parameter, an empty name, or a character of other languages, with a hint. `text`
/// is the statement; `extra` has further characters that are allowed, such as the braces of a loop.
void check_token(const Token& token, std::string_view text, std::string_view extra);

/// Whether the token is an imaginary number: 2.5j.
bool is_imaginary(const Token& token);

}  // namespace eindb
