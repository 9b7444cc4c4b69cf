#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/source_span.hpp"
#include "parser/ast.hpp"

namespace eindb {

/// SQL as SQLite receives it: each query in parentheses is replaced by the name of the table that holds its result.
///
///     SELECT * FROM (EINSUM Z[i] = X[i]) WHERE i IN (EINSUM W[] = 3)
///     SELECT * FROM eindb_query_1 AS "Z" WHERE i IN (SELECT * FROM eindb_query_2)
///
/// Where SQL expects a table, the table's name takes the place of the query, with the alias Z unless the user gave one.
/// Where SQL expects an expression or the body of a WITH, a SELECT from the table does.
struct RewrittenSql {
  struct Piece {
    SourceSpan in_text;
    SourceSpan in_statement;
  };

  std::string text;
  std::vector<Piece> pieces;  // the replacements, in order
  std::size_t offset = 0;     // the position of the SQL in the user's statement
  std::string original;       // the user's SQL

  /// Maps a span to the user's statement. A span inside a replacement maps to the whole query.
  SourceSpan in_statement(SourceSpan in_text) const;
  /// A fragment of the text, for example a column's name, with the queries as the user wrote them.
  std::string restored(std::string fragment) const;
};

/// A file that stands where SQL takes a table: FROM 'sales.csv'.
struct FileInSql {
  std::string path;
  SourceSpan span;  ///< within the SQL
};
/// The files in the SQL, by their extensions; a name in plain quotes without one is a table's.
std::vector<FileInSql> files_in(const ast::Sql& sql);

/// A name in the SQL that another one takes the place of (engine/sql/attached_tables.hpp).
struct NameForSqlite {
  SourceSpan span;  ///< within the SQL
  std::string text;
  std::string alias = {};  ///< of a table, unless the user gives one; empty: none
};

/// tables[n] is the name of the table for sql.queries[n], and further ones those for `files`. The alias of a file's
/// table is the file's name without its extension.
RewrittenSql rewrite_queries(const ast::Sql& sql, const std::vector<std::string>& tables,
                             const std::vector<FileInSql>& files = {}, const std::vector<NameForSqlite>& names = {});

/// A name in brackets that reads as a subscript: the [1,j] in FROM X[1,j]. For SQLite it is an alias.
struct BracketAfterName {
  std::string name;  ///< what stands before it; empty: a parenthesis
  SourceSpan span;
  bool misleads = true;  ///< false: a plain alias after a space, FROM t [a], which misleads only if t is a tensor
};
/// The brackets after tables, and those after anything else that could hold nothing but indices.
std::vector<BracketAfterName> brackets_after_names(std::string_view sql);

/// A part of a tensor where SQL takes a table: FROM X[0:10,:]. The bracket follows the name without a space; after one
/// it is an alias.
struct TensorPart {
  std::string name;
  std::vector<std::string> indices;  ///< one for each dimension, as written
  SourceSpan span;                   ///< of name and bracket, within the SQL
};
/// Those outside of queries in parentheses. Names that have a schema before them are left out.
std::vector<TensorPart> tensor_parts_in(const ast::Sql& sql);

/// Whether the SQL has UNION, INTERSECT or EXCEPT anywhere.
bool joins_rows(std::string_view sql);

/// A table or view that a statement creates, changes or drops, or on which it creates an index or a trigger.
struct SchemaTarget {
  enum class Use : std::uint8_t { Create, Drop, Alter, Index, Trigger };
  Use use = Use::Create;
  std::string schema;  ///< empty: none is written
  std::string name;
  SourceSpan span;  ///< within the SQL
};
/// The names in CREATE TABLE, DROP TABLE, ALTER TABLE x RENAME TO y, CREATE INDEX ... ON, ...
std::vector<SchemaTarget> schema_targets(std::string_view sql);

/// The first occurrence of the name in the SQL, quoted or not.
std::optional<SourceSpan> find_name(std::string_view sql, std::string_view name);

/// The names and strings in the SQL, at most `limit` of them.
std::vector<std::string> names_in(std::string_view sql, std::size_t limit);

}  // namespace eindb
