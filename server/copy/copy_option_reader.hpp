#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/source_span.hpp"
#include "engine/files/copy_format.hpp"

namespace eindb {

/// The direction of the rows.
enum class CopySide : std::uint8_t { FromClient, ToClient };

/// An option of COPY as written, in either syntax: `HEADER`, `DELIMITER ';'`, `FORCE_NULL (a, b)`.
struct CopyOption {
  std::string name;                 ///< in lower case
  std::optional<std::string> text;  ///< its value; without quotes
  CopyColumnChoice columns;         ///< the value, if it is * or a list
  SourceSpan span;                  ///< of name and value
};

/// Whether these options request a file in one of eindb's own formats (npy, hdf5, csv with LAYOUT, ...), which the
/// engine reads or writes, rather than PostgreSQL's rows. Error{Value} if they name no format but have options that
/// only eindb's formats have.
bool ask_for_file(const std::vector<CopyOption>& options);

/// Checks the options as PostgreSQL does. Throws Error with the place: Syntax for options that are unknown, repeated or
/// lack a value, Value for invalid values, Unsupported for encodings other than UTF-8.
CopyFormatOptions read_copy_format(const std::vector<CopyOption>& options, CopySide side);

}  // namespace eindb
