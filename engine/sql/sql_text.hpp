#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/source_span.hpp"
#include "parser/ast.hpp"

namespace eindb {

/// SQL as SQLite gets it: each query in parentheses gave way to the name of the table that holds its result.
///
///     SELECT * FROM (EINSUM Z[i] = X[i]) WHERE i IN (EINSUM W[] = 3)
///     SELECT * FROM eindb_query_1 AS "Z" WHERE i IN (SELECT * FROM eindb_query_2)
///
/// Where SQL takes a table the name stands for it, as Z if the user gave no other name; where it takes an expression or
/// the body of a WITH, a SELECT stands for it.
struct RewrittenSql {
  struct Piece {
    SourceSpan in_text;
    SourceSpan in_statement;
  };

  std::string text;
  std::vector<Piece> pieces;  // what was replaced, in order
  std::size_t offset = 0;     // where the SQL begins in the user's statement
  std::string original;       // the user's SQL

  /// The place in the user's statement; that of the whole query for what is inside a replaced piece.
  SourceSpan in_statement(SourceSpan in_text) const;
  /// `fragment` of the text, as a column's name for example, with the queries as the user wrote them.
  std::string restored(std::string fragment) const;
};

/// `tables[n]` is the table for sql.queries[n].
RewrittenSql rewrite_queries(const ast::Sql& sql, const std::vector<std::string>& tables);

/// Whether UNION, INTERSECT or EXCEPT stands anywhere in the SQL.
bool joins_rows(std::string_view sql);

/// A table or view that a statement makes, changes or drops, or puts an index or a trigger on.
struct SchemaTarget {
  enum class Use : std::uint8_t { Create, Drop, Alter, Index, Trigger };
  Use use = Use::Create;
  std::string name;
  SourceSpan span;  ///< in the SQL
};
/// The names in CREATE TABLE, DROP TABLE, ALTER TABLE x RENAME TO y, CREATE INDEX ... ON, ...
std::vector<SchemaTarget> schema_targets(std::string_view sql);

/// Where the name stands first in the SQL, quoted or not.
std::optional<SourceSpan> find_name(std::string_view sql, std::string_view name);

/// Every name and string in the SQL, at most `limit`.
std::vector<std::string> names_in(std::string_view sql, std::size_t limit);

}  // namespace eindb
