#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/dialect/names.hpp"
#include "engine/dialect/sql_text.hpp"
#include "engine/dialect/sql_type.hpp"

namespace eindb::dialect {

/// A statement for SQLite.
struct Translated {
  SqlText text;
  std::map<std::size_t, SqlType> parameters;  ///< the types that the statement determines, by number
  bool uses_catalog = false;  ///< whether the text may name tables of pg_catalog, or functions that are unknown here
  std::vector<std::string> columns;  ///< types of the rows' columns: "date", "numeric(10,2)"; empty where it is unknown
};

/// Translates a SELECT, INSERT, UPDATE, DELETE or definition of PostgreSQL's SQL. Where SQLite would give other rows,
/// the text calls functions that give PostgreSQL's:
///
///     SELECT n / 2, t LIKE 'a%' FROM x ORDER BY 1
///     SELECT pg_divide_integers("n", 2) AS "?column?", pg_like("t", 'a%') AS "?column?" FROM "x"
///       ORDER BY 1 ASC NULLS LAST
///
/// nullopt for text that PostgreSQL's grammar refuses, and for statements that need no translation. Throws CodedError
/// with PostgreSQL's SQLSTATE and a place for what PostgreSQL would refuse (types that do not fit, unknown columns),
/// and with 0A000 for what has no translation. `stated` are the types that the client states of parameters, by number;
/// the statement determines the others.
std::optional<Translated> translate(std::string_view statement, const FindColumns& find_columns,
                                    const std::map<std::size_t, SqlType>& stated = {});

}  // namespace eindb::dialect
