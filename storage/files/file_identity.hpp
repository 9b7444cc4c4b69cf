#pragma once

#include <string>
#include <string_view>

namespace eindb {

/// What tells a file from its copies, wherever it is moved to on its file system: the number of its inode, and when
/// that was made, where the file system says so ("1311042:1763856000.250"). Does not open the file. Error{Io}.
std::string file_identity_of(const std::string& path);

/// Whether both are of one file. A time that one of them does not know does not count.
bool is_same_file(std::string_view a, std::string_view b);

}  // namespace eindb
