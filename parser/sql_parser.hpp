#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "parser/ast.hpp"
#include "parser/enclosing_loops.hpp"

namespace eindb {

/// Where SQL inside one of our statements ends: at its semicolon, or also before the ')' that closes what it stands in.
enum class SqlExtent : std::uint8_t { ToSemicolon, ToParenthesis };

/// Takes SQL from `begin` on as it is, and parses the queries in parentheses within. The span stops after its last
/// token: before the semicolon, if there is one. `loops` are those around the statement, or null. Throws Error{Syntax}
/// for an unterminated quote or comment and for a mistake in a query; SQLite finds all others.
ast::Sql parse_sql(std::string_view statement, std::size_t begin, SqlExtent extent, const EnclosingLoops* loops);

}  // namespace eindb
