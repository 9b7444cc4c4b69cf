#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "common/file_descriptor.hpp"
#include "storage/files/file_path.hpp"

namespace eindb {

/// A directory that appears completely or not at all. Its files go to a directory `NAME.tmp-PID-N` beside the target,
/// which commit() gives the target's name, in the place of a directory that was there. If the process ends before, the
/// temporary directory is left, and the target as it was; if it ends within commit(), what was there may be left under
/// such a name. On file systems that cannot exchange two directories there is a moment without the target. Not
/// thread-safe.
class OutputDirectory {
 public:
  /// Error{Io} that names the path if no directory can be made beside it; Error{Permission} like FilePath::place.
  explicit OutputDirectory(const FilePath& path);
  /// Removes the temporary directory unless commit() returned.
  ~OutputDirectory();
  OutputDirectory(const OutputDirectory&) = delete;
  OutputDirectory& operator=(const OutputDirectory&) = delete;

  const std::string& path() const { return path_; }
  /// Makes a file of these bytes, and the directories on the way to it; `name` as for components_below(). Error{Io} if
  /// there is such a file, or no space.
  void write(const std::string& name, std::span<const std::byte> bytes);
  /// Gives the target its new contents, which survive a crash of the machine. With `replaces` a directory that is there
  /// is replaced; without, only an empty one. Error{Conflict} if there is something else, Error{Permission} if a file
  /// of an open database would be lost.
  void commit(bool replaces);

 private:
  [[noreturn]] void fail() const;
  void exchange(const std::string& old);

  std::string path_;
  FilePath::Place target_;
  std::string temporary_;  // beside the target; empty once it has the target's name
  FileDescriptor directory_;
};

}  // namespace eindb
