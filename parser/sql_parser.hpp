#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "parser/ast.hpp"
#include "parser/enclosing_loops.hpp"

namespace eindb {

/// The end of SQL embedded in a statement of eindb: at its semicolon, or also before the ')' that encloses it.
enum class SqlExtent : std::uint8_t { ToSemicolon, ToParenthesis };

/// Takes SQL from `begin` on unchanged, and parses the queries in parentheses within it. The span ends after the last
/// token, before a semicolon. `loops` are the enclosing loops, or null. Throws Error{Syntax} for an unterminated quote
/// or comment and for a mistake in a query; SQLite finds all other mistakes.
ast::Sql parse_sql(std::string_view statement, std::size_t begin, SqlExtent extent, const EnclosingLoops* loops);

}  // namespace eindb
