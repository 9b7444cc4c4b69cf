#pragma once

#include <string>

#include "engine/files/copy_options.hpp"
#include "engine/session/session_state.hpp"
#include "parser/ast.hpp"
#include "storage/files/file_path.hpp"

namespace eindb {

/// COPY (SELECT ...) TO a file. CSV and TSV have the columns' names in the first line, unless HEADER is off; NULL is
/// nothing, an empty text "", a blob its bytes in hex. JSON lines have an object per row; what JSON has no number for
/// is null. Error{Unsupported} for other formats.
void export_rows(const FilePath& path, const CopyOptions& options, const ast::Sql& sql, SessionState& session);

}  // namespace eindb
