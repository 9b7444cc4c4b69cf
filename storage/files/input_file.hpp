#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "storage/files/file_path.hpp"

namespace eindb {

/// A regular file open for reading at any offset. Thread-safe once built.
class InputFile {
 public:
  /// Error{Io} that names the path: absent, a directory, no permission. Error{Permission} like FilePath::place.
  explicit InputFile(const FilePath& path);
  /// Takes over `descriptor`, which reads a regular file; `name` is for messages.
  InputFile(std::string name, int descriptor);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  /// A path to this very file for libraries that open by path; valid while it is open, also in forked processes.
  std::string path_of_descriptor() const;
  /// Size in bytes at the time of opening.
  std::int64_t size() const { return size_; }
  /// Takes a shared lock (flock) until the file is closed. False if a program holds the lock to write the file, as
  /// those with libhdf5 do.
  bool try_lock_shared() const;
  /// Reads up to target.size() bytes; fewer only at the end of the file.
  std::size_t read_some(std::int64_t offset, std::span<std::byte> target) const;
  /// Fills `target`; Error{Corrupt} with the offset if the file ends earlier.
  void read(std::int64_t offset, std::span<std::byte> target) const;

 private:
  void measure();

  std::string path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

}  // namespace eindb
