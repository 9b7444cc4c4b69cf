#pragma once

#include <string>
#include <string_view>

namespace eindb {

/// An identity that distinguishes a file from its copies and survives moves within its file system: the inode number,
/// and the inode's creation time if the file system knows it ("1311042:1763856000.250"). Does not open the file.
/// Error{Io}.
std::string file_identity_of(const std::string& path);

/// Whether both identify the same file. A creation time that is missing in one of them is ignored.
bool is_same_file(std::string_view a, std::string_view b);

}  // namespace eindb
