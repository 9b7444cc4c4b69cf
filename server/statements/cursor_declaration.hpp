#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "engine/statement_text.hpp"

namespace eindb {

/// DECLARE name [BINARY] [INSENSITIVE | ASENSITIVE] [[NO] SCROLL] CURSOR [WITH | WITHOUT HOLD] FOR query. All cursors
/// are insensitive: they give the rows that there were when they were declared.
struct CursorDeclaration {
  std::string name;
  bool binary = false;    ///< simple queries get its rows in the binary format
  bool scrolls = false;   ///< SCROLL: it goes backward, too
  bool holds = false;     ///< WITH HOLD: it outlives the transaction
  std::size_t query = 0;  ///< where the query begins in the statement
  StatementOutline query_outline;
};

/// nullopt if `statement` does not begin like a declaration of a cursor. Throws Error{Syntax}, with the place, if the
/// query is none that gives rows of its own: SELECT, VALUES, EINSUM and the like.
std::optional<CursorDeclaration> parse_cursor_declaration(std::string_view statement);

}  // namespace eindb
