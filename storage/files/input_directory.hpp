#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/file_descriptor.hpp"
#include "storage/files/file_path.hpp"
#include "storage/files/input_file.hpp"

namespace eindb {

/// A directory whose files are read, those of its directories too. Paths below it are relative, as for
/// components_below(), whose errors all functions have; symbolic links below it are not followed. Thread-safe once
/// built.
class InputDirectory {
 public:
  /// Error{Io} that names the path: absent, no directory, no permission. Error{Permission} like FilePath::place.
  explicit InputDirectory(const FilePath& path);
  /// The same, or null if there is no such directory.
  static std::unique_ptr<InputDirectory> find(const FilePath& path);

  const std::string& path() const { return path_; }
  /// The file; null if there is none. Error{Io} for one that cannot be read, and for a directory or a link.
  std::unique_ptr<InputFile> file(const std::string& name) const;
  /// All bytes of the file; nullopt if there is none. Error{Unsupported} if it has more than `most`.
  std::optional<std::string> read(const std::string& name, std::int64_t most) const;
  /// The names in the directory `name`, or with an empty one in this, sorted, at most `most` (names_below).
  std::vector<std::string> names(const std::string& name, std::size_t most) const;
  /// Whether nothing is in that directory.
  bool is_empty(const std::string& name) const;
  /// Whether `name` is a directory below this one.
  bool has_directory(const std::string& name) const;

 private:
  InputDirectory(std::string path, FileDescriptor directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}
  FileDescriptor descend(const std::vector<std::string>& names) const;
  [[noreturn]] void fail(const std::string& name) const;

  std::string path_;
  FileDescriptor directory_;
};

}  // namespace eindb
