#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/dialect/given.hpp"
#include "engine/dialect/names.hpp"
#include "engine/dialect/sql_text.hpp"
#include "engine/dialect/sql_type.hpp"

namespace eindb::dialect {

/// A statement for SQLite.
struct Translated {
  SqlText text;
  std::map<std::size_t, SqlType> parameters;                 ///< the types that the statement determines, by number
  std::map<std::size_t, std::string> array_parameters = {};  ///< those that are arrays: "date[]"
  bool uses_catalog = false;  ///< whether the text may name tables of pg_catalog, or functions that are unknown here
  std::vector<std::string> columns;  ///< types of the rows' columns: "date", "numeric(10,2)"; empty where it is unknown
};

/// Translates a SELECT, INSERT, UPDATE, DELETE, trigger or definition of PostgreSQL's SQL. Where SQLite would give
/// other rows, the text calls functions that give PostgreSQL's:
///
///     SELECT n / 2, t LIKE 'a%' FROM x ORDER BY 1
///     SELECT pg_divide_integers("n", 2) AS "?column?", pg_like("t", 'a%') AS "?column?" FROM "x"
///       ORDER BY 1 ASC NULLS LAST
///
/// nullopt for text that PostgreSQL's grammar refuses, and for statements that need no translation; a CREATE TABLE that
/// it refuses must have types that are known, as in sqlite_tables.hpp. Throws CodedError
/// with PostgreSQL's SQLSTATE and a place for what PostgreSQL would refuse (types that do not fit, unknown columns),
/// and with 0A000 for what has no translation.
std::optional<Translated> translate(std::string_view statement, const FindColumns& find_columns,
                                    const Given& given = {});

/// Throws CodedError{42601} with PostgreSQL's message for a query, or a statement that writes rows or stores a query,
/// which PostgreSQL's grammar refuses: SQLite might read it otherwise than it is meant. Other statements may be
/// SQLite's own: CREATE TRIGGER and VIRTUAL TABLE, tables without types of columns, EXPLAIN QUERY PLAN.
void refuse_other_grammars(std::string_view statement, const Given& given = {});

}  // namespace eindb::dialect
