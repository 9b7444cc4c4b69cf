#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "parser/lexical_rules.hpp"

namespace eindb {

/// One statement of a script.
struct StatementText {
  std::string_view text;    ///< from the first word to the end; comments before it are excluded
  std::size_t offset = 0;   ///< of the text in the script
  bool terminated = false;  ///< it has its semicolon or closing brace; only the last statement may lack it
};

/// Splits a script into its statements, without empty ones. Semicolons inside strings, quoted names, comments, the body
/// of a CREATE TRIGGER and the braces of a REPEAT do not count; the brace that closes a REPEAT ends it, with or without
/// a semicolon after it. `rules` define strings and comments. Never throws; the views point into `script`. Linear time.
std::vector<StatementText> split_statements(std::string_view script, const LexicalRules& rules = kCoarseRules);

/// Whether a shell may run the typed text: the last statement leaves nothing open. Blank text is complete.
bool is_complete(std::string_view typed);

}  // namespace eindb
