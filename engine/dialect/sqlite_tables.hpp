#pragma once

#include <string_view>

namespace eindb::dialect {

/// Looks at the types in a CREATE TABLE or ALTER TABLE ... ADD that PostgreSQL's grammar does not know, and SQLite
/// might: SQLite takes any words behind a column's name for a type, "int uniqe" among them. Throws CodedError: 42601
/// for words behind a type that is known, 42704 for a type that is not. Other statements, and what SQLite refuses by
/// itself, are not looked at.
void check_table_of_sqlite(std::string_view statement);

}  // namespace eindb::dialect
