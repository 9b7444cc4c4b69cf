#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/source_span.hpp"
#include "server/copy/copy_format.hpp"
#include "server/copy/copy_option_reader.hpp"

namespace eindb {

/// A COPY whose rows come from the client or go to it:
///
///     COPY [schema.]name [(column, ...)] FROM STDIN | TO STDOUT [[WITH] (option [value], ...)]
///     COPY (query) TO STDOUT [[WITH] (option [value], ...)]
///
/// with the options also as they were written before PostgreSQL 9: `COPY name FROM STDIN CSV HEADER DELIMITER AS ';'`.
struct CopyStatement {
  /// A file in one of eindb's own formats, which the engine reads or writes.
  struct File {
    SourceSpan place;    ///< STDIN or STDOUT
    SourceSpan options;  ///< in their parentheses
  };

  std::string schema;                ///< empty: none is named
  std::string table;                 ///< empty: a query
  SourceSpan source;                 ///< of the name, or of the query inside its parentheses
  std::vector<std::string> columns;  ///< empty: all
  CopySide side = CopySide::FromClient;
  std::variant<CopyFormatOptions, File> format;
};

/// Nothing if `statement` is no such COPY: another statement, COPY of a file, or what cannot be made out at all, which
/// the engine refuses. Names without quotes are kept as they are written: the engine tells no letter's case apart.
/// Throws Error with the place: Syntax for what cannot follow, and all that read_copy_format throws.
std::optional<CopyStatement> parse_copy_statement(std::string_view statement);

/// The engine's COPY of the file at `path` that does what `statement`, of which `file` is a part, asks for; all that
/// stands before STDIN or STDOUT stays where it is.
std::string copy_of_file(std::string_view statement, const CopyStatement::File& file, std::string_view path);

}  // namespace eindb
