#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <string>

namespace eindb {

/// Opens a file like openat(2), never inherited across exec; returns -1 and sets errno on failure. Error{Permission}
/// for a file of a database that is open in this process (common/open_databases.hpp), under any path. eindb opens files
/// only by this function, which `script/check_opens` enforces.
int open_file(int directory, const std::string& path, int flags, mode_t mode = 0);
inline int open_file(const std::string& path, int flags, mode_t mode = 0) {
  return open_file(AT_FDCWD, path, flags, mode);
}

/// Closes a descriptor from open_file(). If the file now belongs to an open database, closing is delayed until that is
/// closed. False, with errno, if the system reports an error.
bool close_file(int descriptor) noexcept;

}  // namespace eindb
