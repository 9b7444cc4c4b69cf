#pragma once

#include <string>

namespace eindb {

/// What a file with a secret has to be: a file of the user that this process runs as, and for that user alone; or
/// root's, and for a group at most. Error{Value} for others, Error{Io} for one that cannot be read; `what` is what the
/// file is to hold: "key".
void check_private_file(const std::string& path, const char* what);
/// Error{Io} unless the file can be read. Error{Permission} for a file of an open database: libraries that open a file
/// by its path are called after this.
void check_readable_file(const std::string& path, const char* what);

}  // namespace eindb
