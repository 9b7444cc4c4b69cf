#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/sqlite/sql_function.hpp"

namespace eindb {

/// The arguments of functions in pg_functions.hpp.
using PgValues = std::span<const SqliteValue>;

inline constexpr SqliteValue kNull{};

/// A function without state.
struct PgFunction {
  const char* name;
  int arguments;       ///< -1: any number
  const char* result;  ///< type of the result as in CREATE TABLE; empty: it varies
  SqliteValue (*body)(PgValues);
  SqlFunction::OfReals of_reals = nullptr;
};

inline bool is_null(const SqliteValue& value) { return std::holds_alternative<std::monostate>(value); }
bool any_null(PgValues values);
inline SqliteValue integer_value(std::int64_t value) { return value; }
inline SqliteValue truth_value(bool value) { return std::int64_t{value ? 1 : 0}; }

/// The text to which SQLite would cast the value; bytes are read as characters.
std::string text_of(const SqliteValue& value);
std::int64_t integer_of(const SqliteValue& value);

/// The name as PostgreSQL reads it: my_table, "My table".
std::string pg_identifier(const std::string& name);
/// The text as a constant of PostgreSQL: 'it''s', and E'a\\b' with a backslash.
std::string pg_literal(const std::string& text);

/// `deterministic`: whether equal arguments always give equal results.
std::vector<SqlFunction> sql_functions(std::span<const PgFunction> functions, bool deterministic);

}  // namespace eindb
