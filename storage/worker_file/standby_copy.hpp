#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "common/file_descriptor.hpp"
#include "storage/sqlite/write_ahead_log.hpp"

namespace eindb {

/// The folder of a worker's data directory in which it keeps the copy.
inline constexpr const char* kStandbyFolder = "standby";

/// A copy of a coordinator's database file that follows it: the file, and a log of SQLite beside it to which the frames
/// of the coordinator's log are appended as they are. SQLite itself reads both when the copy is opened
/// (`eindb promote`), and takes the transactions that are whole.
///
///     DIRECTORY/copy/database.db, database.db-wal    the copy
///     DIRECTORY/copy.new/...                         one that is being made, and takes its place when it is whole
///     DIRECTORY/lock                                 held by whoever writes or reads them
///
/// What a function has written is durable when it returns. Thread-safe. Errors: Error{Io}, also for a full disk;
/// Error{Conflict} for what does not follow what is there; Error{Corrupt} for frames whose checksums are wrong.
class StandbyCopy {
 public:
  /// Nothing is made or read before it is needed.
  explicit StandbyCopy(std::string directory) : directory_(std::move(directory)) {}

  /// The end of the copy's log: generation 0 if it is empty; nullopt if there is no copy.
  std::optional<LogPlace> place();

  /// Begins a new copy, beside the one that is there.
  void begin();
  /// The next bytes of the new copy's file, which has as many so far.
  void add_bytes(std::int64_t from, std::span<const std::byte> bytes);
  /// Makes the new copy the copy.
  void finish();

  /// Where frames go.
  enum class Of : std::uint8_t { Copy, NewCopy };
  /// Appends frames, of a log with this header, to a log that ends at `behind`; of the first frames of another log,
  /// what is there is moved into the file before.
  void append(Of which, const LogPlace& behind, std::span<const std::byte> header, std::span<const std::byte> frames);

  /// Copies the copy that is in the directory to a database's file that is not there yet. Error{UnknownName} if there
  /// is no copy, Error{Busy} while it is being written, Error{Io}.
  static void take(const std::string& directory, const std::string& database);
  /// Whether there is a copy.
  static bool is_in(const std::string& directory);

 private:
  // A log that is open, and its end.
  struct Log {
    FileDescriptor file;
    std::optional<LogChain> chain;  // none: it is empty
  };

  Log open_log(const std::string& folder) const;
  static void write_frames(Log& log, const std::string& path, std::span<const std::byte> header,
                           std::span<const std::byte> frames);
  void move_into_file(const std::string& folder);
  Log& log_of(Of which);

  const std::string directory_;
  std::mutex mutex_;  // guards the logs, and the files
  std::optional<Log> log_;
  std::optional<Log> new_log_;
  std::int64_t new_bytes_ = 0;
};

}  // namespace eindb
