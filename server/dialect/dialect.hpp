#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/source_span.hpp"
#include "server/values/data_type.hpp"

namespace eindb {

/// A statement of PostgreSQL's SQL as SQLite and eindb read it.
struct Translation {
  /// A part of the translated text and what it stands for.
  struct Segment {
    std::size_t begin = 0;           ///< in the translated text
    std::size_t original_begin = 0;  ///< in the client's
    std::size_t original_end = 0;
    bool is_copy = true;  ///< byte for byte, so places inside correspond
  };
  /// $3::int8 tells what the client should send for $3.
  struct ParameterType {
    std::size_t number = 0;
    DataType type = DataType::Unspecified;
  };

  std::optional<std::string> text;  ///< nullopt: the statement as it came
  bool uses_catalog = false;      ///< it may name tables or functions of PgCatalog, which must be shown before it runs
  std::vector<Segment> segments;  ///< in order; empty if the text is as it came
  std::vector<ParameterType> parameter_types;

  /// What to give to the session, of the `statement` that was translated.
  std::string_view text_of(std::string_view statement) const { return text ? std::string_view(*text) : statement; }
  /// Where a place of the translated text lies in the client's: of what was rewritten, all that was there.
  SourceSpan original(SourceSpan translated) const;
};

/// Translates one statement from PostgreSQL's dialect of SQL to SQLite's, token by token:
///
///     SELECT oid::int8 FROM pg_catalog.pg_class WHERE relname OPERATOR(pg_catalog.~) '^(notes)$'
///     SELECT CAST(oid AS INTEGER) FROM pg_catalog.pg_class WHERE relname REGEXP '^(notes)$'
///
/// What both understand stays byte for byte, and so do eindb's own statements and the EINSUM inside SQL. What neither
/// can be is left to SQLite to refuse. Never throws but for want of memory; linear time.
Translation translate_dialect(std::string_view statement);

}  // namespace eindb
