#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "storage/files/file_path.hpp"

namespace eindb {

/// A file that appears whole or not at all: bytes go to a file without a name, where the file system has such, so that
/// nothing is left of it however the process ends, and else to a temporary file beside the target; commit() gives it
/// the target's name.
/// A target that is no regular file (a pipe), or /dev/stdout, cannot be replaced and is written directly, in order.
/// Threads: write_at from any once the file is built; the rest one at a time.
class OutputFile {
 public:
  /// When the temporary file has a name. Libraries that look for the path of what they open need one from the
  /// beginning.
  enum class Naming : std::uint8_t { Late, Early };

  /// Error{Io} that names the path: no such directory, a directory, no permission. Error{Permission} as
  /// FilePath::place, and for a confined path to anything but a regular file.
  explicit OutputFile(const FilePath& path, Naming naming = Naming::Late);
  /// Removes the temporary file unless commit() returned.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::string& path() const { return path_; }
  /// False for a pipe or a device: only append() works.
  bool is_seekable() const { return nameless_ || !temporary_.empty(); }
  void append(std::span<const std::byte> bytes);
  void write_at(std::int64_t offset, std::span<const std::byte> bytes);
  /// Fills `target` with what was written before at `offset`.
  void read_at(std::int64_t offset, std::span<std::byte> target) const;
  /// The first offset from `offset` on at which something was written, or the file's end: what lies before are zeros.
  /// On file systems that do not know, `offset` itself.
  std::int64_t next_written(std::int64_t offset) const;
  /// Where the bytes go until commit(), for a library that writes by path (Naming::Early): it may fill this file, not
  /// replace it.
  std::string path_of_descriptor() const;
  /// Sets the length; what was not written reads as zeros and takes no space.
  void resize(std::int64_t size);
  /// The target has the new contents, also after a crash of the machine.
  void commit();

 private:
  void open_directly();
  void open_temporary(Naming naming);
  bool open_nameless();
  /// Gives what is nameless that name; false if something else has it.
  bool take_name(const std::string& name);
  void name_temporary();
  void replace_target();
  std::string temporary_name(int n) const;
  [[noreturn]] void fail() const;

  std::string path_;
  FilePath::Place target_;  // with symbolic links followed
  bool nameless_ = false;   // there is no name yet
  std::string temporary_;   // beside the target; empty for one that is written directly
  int descriptor_ = -1;
};

}  // namespace eindb
