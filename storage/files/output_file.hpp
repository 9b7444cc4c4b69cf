#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "common/cancellation.hpp"
#include "storage/files/file_path.hpp"
#include "storage/files/input_file.hpp"

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
  /// Whether commit() replaces a file that has at least one byte.
  bool replaces_bytes() const { return is_seekable() && found_.exists && found_.size > 0; }
  /// commit() will throw Error{Conflict} if the target has been made, changed or replaced since the constructor looked
  /// at it. For files of which something is kept.
  void require_unchanged_target() { is_unchanged_required_ = true; }
  /// Fills the file with the bytes of `source`; runs of zeros take no space. `cancellation` may be null.
  void copy(const InputFile& source, const Cancellation* cancellation);
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
  /// The identity and version of the file at a path. Two of them are equal if nobody has changed or replaced the file
  /// in between.
  struct FileState {
    bool exists = false;
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    std::int64_t changed = 0;  // the time of the last change, in nanoseconds

    bool operator==(const FileState&) const = default;
  };

  static FileState state_of(const struct stat& status);
  void open_directly();
  void open_temporary(Naming naming);
  bool open_nameless();
  /// Gives the nameless file that name; false if the name is taken.
  bool take_name(const std::string& name);
  void name_temporary();
  void replace_target(const FileDescriptor& directory);
  void check_unchanged() const;
  std::string temporary_name(int n) const;
  [[noreturn]] void fail() const;

  std::string path_;
  FilePath::Place target_;  // after following symbolic links
  FileState found_;         // the target when this object was made
  bool is_unchanged_required_ = false;
  bool nameless_ = false;  // has no name yet
  std::string temporary_;  // beside the target; empty if the target is written directly
  int descriptor_ = -1;
};

}  // namespace eindb
