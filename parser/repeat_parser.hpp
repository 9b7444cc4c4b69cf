#pragma once

#include <string_view>

#include "parser/ast.hpp"
#include "parser/enclosing_loops.hpp"
#include "parser/token_stream.hpp"

namespace eindb {

/// Parses the statement whose first token is at `begin`. It extends to the end of `text`, or, for a loop, to its
/// closing brace.
using ParseInLoop = ast::Statement (*)(std::string_view text, std::size_t begin, const EnclosingLoops& loops);

/// Parses REPEAT n [AS t] [UNTIL e] [COMMIT EVERY k] { statements }, from the word REPEAT to the closing brace.
///
/// A statement of the body ends at its semicolon or before that brace; quotes, comments and the body of a CREATE
/// TRIGGER may contain either. `parse` gets the text up to there, so spans refer to the whole text, and parsers of
/// statements handle no braces. Throws Error{Syntax}. Linear in the text.
ast::Repeat parse_repeat(TokenStream& tokens, ParseInLoop parse);

}  // namespace eindb
