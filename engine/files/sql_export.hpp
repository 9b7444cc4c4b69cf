#pragma once

#include <string>

#include "engine/files/copy_options.hpp"
#include "engine/session/session_state.hpp"
#include "parser/ast.hpp"
#include "storage/files/file_path.hpp"

namespace eindb {

/// Writes a COPY (SELECT ...) TO a file. CSV and TSV begin with a line of column names, unless HEADER is off; NULL is
/// an empty field, an empty text is "", and a blob is written in hex. JSON lines have one object per row; numbers that
/// JSON cannot hold become null. Arrow's formats have the types of the columns. Error{Unsupported} for other formats.
void export_rows(const FilePath& path, const CopyOptions& options, const ast::Sql& sql, SessionState& session);

}  // namespace eindb
