#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/source_span.hpp"
#include "server/copy/copy_format.hpp"

namespace eindb {

/// Which way rows go.
enum class CopySide : std::uint8_t { FromClient, ToClient };

/// An option of COPY as it is written, in either syntax: `HEADER`, `DELIMITER ';'`, `FORCE_NULL (a, b)`.
struct CopyOption {
  std::string name;                 ///< in lower case
  std::optional<std::string> text;  ///< its value; without quotes
  CopyColumnChoice columns;         ///< the value where it is * or a list
  SourceSpan span;                  ///< of name and value
};

/// Whether these options ask for the bytes of a file in one of eindb's own formats (npy, hdf5, csv with LAYOUT, ...),
/// which the engine writes or reads, and not for rows in PostgreSQL's. Error{Value} where they name no format, but have
/// options that only eindb's own formats have.
bool ask_for_file(const std::vector<CopyOption>& options);

/// Checks what the options say as PostgreSQL does. Throws Error with the place: Syntax for options that do not exist,
/// come twice or lack a value, Value for values that they cannot have, Unsupported for encodings other than UTF-8.
CopyFormatOptions read_copy_format(const std::vector<CopyOption>& options, CopySide side);

}  // namespace eindb
