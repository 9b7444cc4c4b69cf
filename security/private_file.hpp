#pragma once

#include <string>

namespace eindb {

/// Checks the permissions of a file with a secret: it must belong to the user of this process and be accessible to that
/// user only; or belong to root and be readable by a group at most. Error{Value} otherwise, Error{Io} if it cannot be
/// read; `what` names its content: "key".
void check_private_file(const std::string& path, const char* what);
/// Error{Io} unless the file can be read. Error{Permission} for a file of an open database. To be called before
/// libraries that open a file by its path.
void check_readable_file(const std::string& path, const char* what);

}  // namespace eindb
