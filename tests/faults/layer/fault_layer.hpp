#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace eindb::faults {

/// The file operations of a program.
enum class Operation : std::uint8_t {
  Open,
  Read,
  Write,
  Sync,      ///< of a file or of a directory
  Truncate,  ///< also to extend
  Unlink,
  Rename,
  Link,
  Lock,  ///< acquiring; releasing never fails
  Map,   ///< of a file's bytes
  Size,  ///< and other results of stat
  Access,
  Path,  ///< a symbolic link, the working directory
};
inline constexpr std::size_t kOperations = 13;

std::string to_string(Operation operation);

using Operations = std::uint32_t;  ///< one bit per operation
constexpr Operations bit(Operation operation) { return Operations{1} << static_cast<unsigned>(operation); }
inline constexpr Operations kAllOperations = (Operations{1} << kOperations) - 1;

/// The failures of operations on watched files.
struct Fault {
  static constexpr std::int64_t kForEver = INT64_MAX;

  std::int64_t first = 1;  ///< number of the first matching operation that fails, counted from 1
  std::int64_t count = 1;  ///< number of consecutive failures
  Operations operations = kAllOperations;
  std::string path_part = {};    ///< must occur in the path, to which a $ is appended
  int error = 0;                 ///< errno; 0: the usual one for the operation
  bool maps_unreadably = false;  ///< a failing map fails when it is read, by SIGBUS
  std::int64_t kept_bytes = 0;   ///< bytes that a failing write leaves in the file and reports
};

/// The number of matching operations, and the first failure.
struct FaultReport {
  std::int64_t seen = 0;  ///< operations that could have failed
  std::int64_t failed = 0;
  Operation operation{};  ///< the first that failed
  std::string path = {};  ///< its file
  int error = 0;
};

/// The events of watched files, in order. Files are identified by number, since names change.
struct FileEvent {
  enum class Kind : std::uint8_t {
    Write,      ///< `bytes` at `offset`
    Truncate,   ///< to `offset` bytes
    Sync,       ///< of all earlier changes to the file
    Create,     ///< under `name`
    Unlink,     ///< of `name`
    Link,       ///< a further `name`
    Rename,     ///< of `name` to `other`
    SyncNames,  ///< of all earlier changes to names in the directory `name`
    Mark,       ///< set by the test; `offset` is its number
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

// The layer wraps the C library's functions for files and calls the originals. One per process. Thread-safe.

/// Watches only files below this directory from now on. Its path must have no symbolic links.
void watch(const std::string& directory);
/// Resets the counts.
void arm(const Fault& fault);
FaultReport disarm();

/// Starts a recording; nothing in the directory may be open. Syncs are only recorded and do not wait for a disk.
void start_recording();
void mark(std::int64_t which);
Recording take_recording();

}  // namespace eindb::faults
