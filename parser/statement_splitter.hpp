#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "parser/lexical_rules.hpp"

namespace eindb {

/// One statement of a script.
struct StatementText {
  std::string_view text;    ///< from its first word to what ends it; comments before it are left out
  std::size_t offset = 0;   ///< of the text in the script
  bool terminated = false;  ///< it has its semicolon, or the brace that closes its loop; only the last may lack it
};

/// Cuts a script into its statements; empty ones are left out. Semicolons in strings, quoted names, comments, the body
/// of a CREATE TRIGGER and the braces of a REPEAT do not count; the brace that closes a REPEAT ends it, with or without
/// a semicolon after it. The rules say what a string or a comment is. Never throws; the views point into `script`.
/// Linear time.
std::vector<StatementText> split_statements(std::string_view script, const LexicalRules& rules = kCoarseRules);

/// Whether a shell may run what has been typed: nothing is left open after the last statement. Blank text is complete.
bool is_complete(std::string_view typed);

}  // namespace eindb
