#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <string>

namespace eindb {

/// Opens as openat(2) does, never across exec; -1 and errno where the system refuses. Error{Permission} for a file of a
/// database that is open in this process (common/open_databases.hpp), by whatever path. This, and nothing else, is how
/// eindb opens files; `script/check_opens` holds it to that.
int open_file(int directory, const std::string& path, int flags, mode_t mode = 0);
inline int open_file(const std::string& path, int flags, mode_t mode = 0) {
  return open_file(AT_FDCWD, path, flags, mode);
}

/// Closes what open_file() gave, or keeps it until the database is closed that the file belongs to by now. False, with
/// errno, if the system says that something failed.
bool close_file(int descriptor) noexcept;

}  // namespace eindb
