#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/source_span.hpp"
#include "engine/files/copy_format.hpp"
#include "server/copy/copy_option_reader.hpp"

namespace eindb {

/// A COPY whose rows come from the client or go to it:
///
///     COPY [schema.]name [(column, ...)] FROM STDIN | TO STDOUT [[WITH] (option [value], ...)]
///     COPY (query) TO STDOUT [[WITH] (option [value], ...)]
///
/// Options may also have the syntax from before PostgreSQL 9: `COPY name FROM STDIN CSV HEADER DELIMITER AS ';'`.
struct CopyStatement {
  /// A file in one of eindb's own formats, which the engine reads or writes.
  struct File {
    SourceSpan place;    ///< STDIN or STDOUT
    SourceSpan options;  ///< within their parentheses
  };

  std::string schema;                ///< empty: none is named
  std::string table;                 ///< empty: COPY of a query
  SourceSpan source;                 ///< of the name, or of the query within its parentheses
  std::vector<std::string> columns;  ///< empty: all
  CopySide side = CopySide::FromClient;
  std::variant<CopyFormatOptions, File> format;
};

/// nullopt if `statement` is not such a COPY: another statement, a COPY of a file, or text that cannot be parsed, which
/// the engine then refuses. Unquoted names keep their case, as the engine's names are case-insensitive. Throws Error
/// with the place: Syntax for an invalid continuation, and all errors of read_copy_format.
std::optional<CopyStatement> parse_copy_statement(std::string_view statement);

/// The engine's COPY of the file at `path` that corresponds to `statement` with `file`. Text before STDIN or STDOUT
/// keeps its position.
std::string copy_of_file(std::string_view statement, const CopyStatement::File& file, std::string_view path);

}  // namespace eindb
