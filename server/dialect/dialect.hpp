#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/source_span.hpp"
#include "engine/dialect/names.hpp"
#include "server/values/data_type.hpp"

namespace eindb {

/// The translation of a PostgreSQL statement for SQLite and eindb.
struct Translation {
  /// A part of the translated text and the original that it replaces.
  struct Segment {
    std::size_t begin = 0;           ///< in the translated text
    std::size_t original_begin = 0;  ///< in the client's text
    std::size_t original_end = 0;
    bool is_copy = true;  ///< an unchanged copy, so positions inside correspond
  };
  /// The type of a parameter that the client should send, from casts such as $3::int8.
  struct ParameterType {
    std::size_t number = 0;
    DataType type = DataType::Unspecified;
  };

  std::optional<std::string> text;  ///< nullopt: the statement is unchanged
  bool uses_catalog = false;  ///< may name tables or functions of PgCatalog, which must be made visible before it runs
  bool uses_functions = false;    ///< may call functions of PgCatalog
  std::vector<Segment> segments;  ///< in order; empty if the text is unchanged
  std::vector<ParameterType> parameter_types;
  std::vector<std::string> column_types = {};  ///< of the rows' columns, as CREATE TABLE names them; empty: unknown

  /// The text for the session; `statement` is the original.
  std::string_view text_of(std::string_view statement) const { return text ? std::string_view(*text) : statement; }
  /// Maps a place in the translated text to the client's text. A place in a rewritten part maps to the whole original
  /// part.
  SourceSpan original(SourceSpan translated) const;
};

/// Whether the statement is for SQLite, or a TRUNCATE, and translate_dialect may change it; otherwise it is eindb's
/// own.
bool is_sql_for_sqlite(std::string_view statement);

/// Translates one statement from PostgreSQL's dialect of SQL to SQLite's, by its syntax tree (engine/dialect):
///
///     SELECT oid::int8 FROM pg_catalog.pg_class WHERE relname OPERATOR(pg_catalog.~) '^(notes)$'
///     SELECT "oid" AS "oid" FROM "pg_catalog"."pg_class" WHERE "relname" REGEXP '^(notes)$'
///
/// eindb's own statements are unchanged, and so are definitions of SQLite's that PostgreSQL's grammar refuses; queries
/// and writes that it refuses are refused. Throws CodedError for what PostgreSQL would refuse, and for what has no
/// translation; linear time. Element n of `stated` is the type (its object id) that the client states of the parameter
/// $n + 1; 0 states none.
Translation translate_dialect(std::string_view statement, const dialect::FindColumns& find_columns,
                              std::span<const std::int32_t> stated = {});

/// A constant after DEFAULT, with that word, as CREATE TABLE would have it for a column of the type. Throws CodedError
/// for one that the column does not hold.
std::string default_for_column(std::string_view declared, const std::string& value);

}  // namespace eindb
