#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace eindb::faults {

/// What a program asks of the system for a file.
enum class Operation : std::uint8_t {
  Open,
  Read,
  Write,
  Sync,      ///< of a file or of a directory
  Truncate,  ///< also to make longer
  Unlink,
  Rename,
  Link,
  Lock,  ///< taking one: to release it never fails
  Map,   ///< of a file's bytes
  Size,  ///< and what else stat tells
  Access,
  Path,  ///< a symbolic link, the working directory
};
inline constexpr std::size_t kOperations = 13;

std::string to_string(Operation operation);

using Operations = std::uint32_t;  ///< a bit for each
constexpr Operations bit(Operation operation) { return Operations{1} << static_cast<unsigned>(operation); }
inline constexpr Operations kAllOperations = (Operations{1} << kOperations) - 1;

/// What is to fail of the operations on watched files.
struct Fault {
  static constexpr std::int64_t kForEver = INT64_MAX;

  std::int64_t first = 1;  ///< the first operation of these that fails, counted from 1
  std::int64_t count = 1;  ///< how many fail from there on
  Operations operations = kAllOperations;
  std::string path_part = {};    ///< of files whose path has it in it; a $ stands behind the path
  int error = 0;                 ///< the errno; 0: what such an operation usually fails with
  bool maps_unreadably = false;  ///< a map that fails does so when it is read: the system signals SIGBUS
  std::int64_t kept_bytes = 0;   ///< of a write that fails, so many reach the file, and the caller is told of them
};

/// How many operations a fault met, and the first that it made fail.
struct FaultReport {
  std::int64_t seen = 0;  ///< operations that could have failed
  std::int64_t failed = 0;
  Operation operation{};  ///< the first that failed
  std::string path = {};  ///< its file
  int error = 0;
};

/// What happened to the watched files, in order. A file is known by a number: names come and go.
struct FileEvent {
  enum class Kind : std::uint8_t {
    Write,      ///< `bytes` at `offset`
    Truncate,   ///< to `offset` bytes
    Sync,       ///< of all that happened to the file before
    Create,     ///< under `name`
    Unlink,     ///< of `name`
    Link,       ///< a further `name`
    Rename,     ///< of `name` to `other`
    SyncNames,  ///< of all that happened before to names in the directory `name`
    Mark,       ///< of the test: `offset` says which
  };
  Kind kind{};
  int file = -1;
  std::string name = {};
  std::string other = {};
  std::int64_t offset = 0;
  std::vector<std::byte> bytes = {};
};

struct Recording {
  struct File {
    int file = -1;
    std::string name;
    std::vector<std::byte> bytes;
  };
  std::vector<File> before;  ///< when the recording began
  std::vector<FileEvent> events;
};

// The layer stands between the program and the C library: it has the library's functions for files, and calls those
// behind it. One process has one layer. Threads: any.

/// Files below the directory are watched from now on, and no others. Its path has no symbolic links.
void watch(const std::string& directory);
/// Counts begin anew.
void arm(const Fault& fault);
FaultReport disarm();

/// From now on; nothing in the directory is open. Syncs are only recorded: nothing waits for a disk.
void start_recording();
void mark(std::int64_t which);
Recording take_recording();

}  // namespace eindb::faults
