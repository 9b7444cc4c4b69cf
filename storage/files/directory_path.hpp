#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/file_descriptor.hpp"

namespace eindb {

/// The components of a relative path: "a/b" gives a, b. Error{Value} for a path that is not below its directory: an
/// absolute one, empty components, "." and "..", zero bytes; at most 64 components of at most 255 bytes.
std::vector<std::string> components_below(std::string_view path);

/// Opens the directory `name` of `directory`, never a symbolic link; errno tells why it is not there.
FileDescriptor open_below(int directory, const std::string& name);

/// The names in a directory, sorted, without "." and ".."; at most `most`, beyond which it is Error{Unsupported}.
/// `path` is for messages. Error{Io} if the directory cannot be read.
std::vector<std::string> names_below(int directory, const std::string& path, std::size_t most);

/// Whether nothing is in the directory. The errors of names_below.
bool is_empty_below(int directory, const std::string& path);

/// Throws Error{Permission} if the directory has a file of an open database in it, and Error{Unsupported} if it is
/// nested more than 100 deep. `path` is for messages. Symbolic links are not followed.
void refuse_tree_of_database(int directory, const std::string& name, const std::string& path);

/// Removes a directory with all that is in it, as far as the system lets it. Symbolic links are not followed.
void remove_tree(int directory, const std::string& name) noexcept;

}  // namespace eindb
