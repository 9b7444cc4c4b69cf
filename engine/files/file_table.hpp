#pragma once

#include <memory>
#include <string>

#include "engine/session/session_state.hpp"
#include "storage/files/file_path.hpp"

namespace eindb {

/// Makes a file visible to SQL as a table of this name, as long as the result exists. The rows are in memory.
///
/// A CSV or TSV file has the columns that its first line names; a column is INTEGER or REAL if all its values are such
/// numbers, as SQL writes them, else TEXT, and an empty field is NULL. A file with one array (npy, npz, safetensors,
/// HDF5) is a table as a tensor is: its indices and val. Errors name the file, and its line: Error{Io},
/// Error{Corrupt}, Error{Unsupported} for other formats, Error{MemoryLimit} for arrays beyond a quarter of
/// memory_limit.
std::shared_ptr<void> show_file(const FilePath& path, const std::string& table, SessionState& session);

}  // namespace eindb
