#pragma once

#include <string_view>

#include "parser/ast.hpp"
#include "parser/enclosing_loops.hpp"
#include "parser/token_stream.hpp"

namespace eindb {

/// Parses the statement whose first token is at `begin`. It goes to the end of `text`, but for a loop, which goes to
/// its brace.
using ParseInLoop = ast::Statement (*)(std::string_view text, std::size_t begin, const EnclosingLoops& loops);

/// REPEAT n [AS t] [UNTIL e] [COMMIT EVERY k] { statements }, from the word REPEAT to the brace that closes it.
///
/// A statement of the body ends at its semicolon or before that brace; quotes, comments and the body of a CREATE
/// TRIGGER may have either. `parse` gets the text up to there, so that places are those of the whole text, and what
/// reads a statement knows of no braces. Throws Error{Syntax}. Linear in the text.
ast::Repeat parse_repeat(TokenStream& tokens, ParseInLoop parse);

}  // namespace eindb
