#pragma once

#include <eindb/eindb.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sqlite/host.hpp"

namespace eindb_sqlite {

/// Makes the value the result of the column or function. Numbers stay numbers, NaN is NULL.
void give(sqlite3_context* context, const eindb::Value& value);
/// Sets parameter $`number` to a value of the host's.
void bind(eindb::Statement& statement, std::size_t number, sqlite3_value* value);
/// The text of an argument. HostError with `what` for another type.
std::string text_of(sqlite3_value* value, const std::string& what);

/// CREATE TABLE x(...) with these columns; complex numbers are texts.
std::string declaration_of(const std::vector<eindb::ColumnInfo>& columns);

/// As JSON: a number, a text, or null, which NaN and infinities are, too.
void append_json(std::string& out, const eindb::Value& value);
void append_json(std::string& out, std::string_view text);

}  // namespace eindb_sqlite
