#pragma once

#include <cstdint>
#include <string>

#include "common/file_descriptor.hpp"

namespace eindb {

/// Creates a worker's data directory, if it is not there, and locks it; the lock ends with the process at the latest.
/// Error{Io}, Error{Busy} if another worker has it.
FileDescriptor lock_data_directory(const std::string& directory);

/// The bytes of a file; 0 if it cannot be told.
std::int64_t file_bytes(const std::string& path);
/// The bytes of the files of a data directory.
std::int64_t data_bytes(const std::string& directory);
/// The same of all directories in a folder, and of the one that the folder lies in.
std::int64_t shared_data_bytes(const std::string& folder);

}  // namespace eindb
