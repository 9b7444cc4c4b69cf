#pragma once

#include <string>
#include <string_view>

#include "common/file_descriptor.hpp"

namespace eindb {

/// The one directory that clients' files lie in. It is opened once, and paths are walked from there component by
/// component without following a symbolic link: whoever swaps a directory for a link between a check and its use finds
/// that there is no such moment. Immutable, thread-safe.
class FilesDirectory {
 public:
  /// A file's own name and the directory that it lies in.
  struct Place {
    FileDescriptor directory;
    std::string name;
  };

  /// Error{Io} if there is no such directory.
  explicit FilesDirectory(const std::string& path);

  /// As the system names it, without symbolic links.
  const std::string& path() const { return path_; }
  /// Where the file of a relative path lies, or of an absolute one that begins with this directory's. Error{Permission}
  /// for one that leads elsewhere: by "..", by a symbolic link. Error{Io} where a directory on the way is not there.
  Place find(const std::string& path) const;
  /// Whether the file lies in here, however deep. False for what does not exist.
  bool contains(const std::string& path) const;

 private:
  std::string_view relative(std::string_view path) const;
  FileDescriptor descend(const FileDescriptor& from, const std::string& name, const std::string& path) const;

  std::string given_;  // as the operator wrote it
  std::string path_;
  FileDescriptor descriptor_;
};

}  // namespace eindb
