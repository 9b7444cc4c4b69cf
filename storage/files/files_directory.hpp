#pragma once

#include <string>
#include <string_view>

#include "common/file_descriptor.hpp"

namespace eindb {

/// The directory that confines clients' files. It is opened once, and paths are resolved from there component by
/// component without following symbolic links. So replacing a directory by a link between check and use has no effect.
/// Immutable, thread-safe.
class FilesDirectory {
 public:
  /// The directory of a file and the file's name in it.
  struct Place {
    FileDescriptor directory;
    std::string name;
  };

  /// Error{Io} if there is no such directory.
  explicit FilesDirectory(const std::string& path);

  /// The canonical path, without symbolic links.
  const std::string& path() const { return path_; }
  /// The location of a relative path, or of an absolute one that begins with this directory's path. Error{Permission}
  /// if it leads outside, by ".." or a symbolic link. Error{Io} if a directory on the way does not exist.
  Place find(const std::string& path) const;
  /// Whether the file lies below this directory. False if it does not exist.
  bool contains(const std::string& path) const;

 private:
  std::string_view relative(std::string_view path) const;
  FileDescriptor descend(const FileDescriptor& from, const std::string& name, const std::string& path) const;

  std::string given_;  // as the operator wrote it
  std::string path_;
  FileDescriptor descriptor_;
};

}  // namespace eindb
