#pragma once

#include <cstddef>
#include <string_view>

#include "parser/ast.hpp"
#include "parser/limits.hpp"  // IWYU pragma: export

namespace eindb {

/// Text to syntax tree: the first stage of a statement's way (docs/architecture.md).
///
/// `text` is one statement in UTF-8; a semicolon may end it, and nothing but space and comments may follow. What is
/// not a statement of eindb becomes ast::Sql, for SQLite. The first mistake is thrown as Error{Syntax} with its span
/// in `text`; nothing is recovered. Time and memory are linear in the text. Thread-safe, no state.
ast::Statement parse_statement(std::string_view text);

/// The highest number of a parameter $1, $2, ... in a statement, eindb's or SQL; 0 if it has none. `text` is what it
/// was parsed from.
std::size_t count_parameters(const ast::Statement& statement, std::string_view text);

/// [WITH ...] EINSUM ..., alone.
ast::Query parse_query(std::string_view text);

/// One scalar expression, alone: the body of a macro.
ast::Expression parse_expression(std::string_view text);

}  // namespace eindb
