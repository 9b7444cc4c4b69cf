#pragma once

#include <cstddef>
#include <string_view>

#include "parser/ast.hpp"
#include "parser/limits.hpp"  // IWYU pragma: export

namespace eindb {

/// Text to syntax tree: the first stage of a statement (docs/architecture.md).
///
/// `text` is one statement in UTF-8, optionally ended by a semicolon and followed by spaces and comments only.
/// Statements that are not eindb's become ast::Sql for SQLite. The first mistake is thrown as Error{Syntax} with its
/// span in `text`; there is no recovery. Time and memory are linear in the text. Thread-safe, no state.
ast::Statement parse_statement(std::string_view text);

/// The highest number of a parameter $1, $2, ... in a statement of eindb or SQL; 0 if it has none. `text` is the text
/// that it was parsed from.
std::size_t count_parameters(const ast::Statement& statement, std::string_view text);

/// Parses a single query: [WITH ...] EINSUM ...
ast::Query parse_query(std::string_view text);

/// Parses a single scalar expression, such as the body of a macro.
ast::Expression parse_expression(std::string_view text);

}  // namespace eindb
