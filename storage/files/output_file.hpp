#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "storage/files/file_path.hpp"

namespace eindb {

/// A file that appears completely or not at all. Bytes go to a file without a name, if the file system supports it, so
/// that nothing remains however the process ends; otherwise to a temporary file beside the target. commit() gives it
/// the target's name. A target that is no regular file (a pipe), or /dev/stdout, cannot be replaced and is written
/// directly, in order. Threads: write_at() from any thread once constructed; the rest one at a time.
class OutputFile {
 public:
  /// When the temporary file gets a name. Libraries that need the path of the file they open require Early.
  enum class Naming : std::uint8_t { Late, Early };

  /// Error{Io} that names the path: no such directory, a directory, no permission. Error{Permission} like
  /// FilePath::place, and for a confined path to anything but a regular file.
  explicit OutputFile(const FilePath& path, Naming naming = Naming::Late);
  /// Removes the temporary file unless commit() returned.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::string& path() const { return path_; }
  /// False for a pipe or a device, which only support append().
  bool is_seekable() const { return nameless_ || !temporary_.empty(); }
  void append(std::span<const std::byte> bytes);
  void write_at(std::int64_t offset, std::span<const std::byte> bytes);
  /// Fills `target` with bytes written before at `offset`.
  void read_at(std::int64_t offset, std::span<std::byte> target) const;
  /// The first offset from `offset` on that was written, or the end of the file; the bytes before it are zeros. On file
  /// systems without that information, `offset` itself.
  std::int64_t next_written(std::int64_t offset) const;
  /// The path of the unfinished file, for a library that writes by path (Naming::Early). It may fill the file, not
  /// replace it.
  std::string path_of_descriptor() const;
  /// Sets the length; unwritten parts read as zeros and take no space.
  void resize(std::int64_t size);
  /// Gives the target its new contents, which survive a crash of the machine.
  void commit();

 private:
  void open_directly();
  void open_temporary(Naming naming);
  bool open_nameless();
  /// Gives the nameless file that name; false if the name is taken.
  bool take_name(const std::string& name);
  void name_temporary();
  void replace_target();
  std::string temporary_name(int n) const;
  [[noreturn]] void fail() const;

  std::string path_;
  FilePath::Place target_;  // after following symbolic links
  bool nameless_ = false;   // has no name yet
  std::string temporary_;   // beside the target; empty if the target is written directly
  int descriptor_ = -1;
};

}  // namespace eindb
