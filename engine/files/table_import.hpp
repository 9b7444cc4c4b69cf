#pragma once

#include <string>

#include "engine/files/copy_options.hpp"
#include "engine/session/session_state.hpp"
#include "storage/files/file_path.hpp"

namespace eindb {

/// Adds the rows of a CSV or TSV file to an ordinary table: all of them in one transaction, or none. Fields belong to
/// the columns that the file's first line names, or else to all columns in their order; an empty field without quotes
/// is NULL. Errors name the line and the column: Error{Corrupt} for a file that is no CSV, or not of this table,
/// Error{Value} for a field that its column's declared type does not have, and what INSERT throws.
void import_rows(const FilePath& path, const CopyOptions& options, const std::string& table, SessionState& session);

}  // namespace eindb
