#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "storage/sqlite_connection.hpp"

namespace eindb {

/// The form of eindb's own tables that this version writes. A file of a later one is refused.
inline constexpr std::int64_t kSchemaVersion = 1;

/// An open database: one connection that writes, and connections for tasks that read tiles at the same time.
///
/// A new file gets 64 KiB pages, a write-ahead log and eindb's application id. A SQLite database of somebody else is
/// accepted as it is; the catalog adds its tables when the first tensor is made. ":memory:" is a database of its own:
/// SQLite's memdb VFS, which several connections could share, holds less than 2 GiB and reads a third as fast, so that
/// everything goes through the one connection there.
///
/// Threads: connection() as SqliteConnection says; the rest from any thread.
class DatabaseFile {
 public:
  enum class Access : std::uint8_t { ReadWrite, ReadOnly };

  /// Opens `path`, or creates it for ReadWrite. Errors name the path: Io (missing directory, a directory, ...), Corrupt
  /// (no database), ReadOnly, Busy, Unsupported (a later schema version). A file that was made and failed is removed.
  /// ReadOnly opens what exists; SQLite may leave its empty -wal and -shm beside a file with a write-ahead log.
  explicit DatabaseFile(const std::string& path, Access access = Access::ReadWrite);

  const std::string& path() const { return path_; }
  bool is_in_memory() const { return in_memory_; }
  bool is_read_only() const { return read_only_; }
  SqliteConnection& connection() { return *connection_; }

  /// Whether further connections can read while this one writes: a file with a write-ahead log.
  bool has_parallel_readers() const { return write_ahead_log_; }
  /// A connection that only reads, for one thread; give it back when done, with no transaction open.
  std::unique_ptr<SqliteConnection> borrow_reader();
  void give_back(std::unique_ptr<SqliteConnection> reader);

  /// Stops the SQL that runs on connection(). Any thread, also a signal handler.
  void interrupt() noexcept { connection_->interrupt(); }

 private:
  void open_memory();
  void open_file();
  void open_existing();
  void open_new();
  void configure(SqliteConnection& connection) const;
  void verify_versions();

  std::string path_;
  bool in_memory_;
  bool read_only_;
  bool write_ahead_log_ = false;
  std::unique_ptr<SqliteConnection> connection_;
  std::mutex readers_mutex_;                                     // guards idle_readers_
  std::vector<std::unique_ptr<SqliteConnection>> idle_readers_;  // closed before connection_, which checkpoints
};

}  // namespace eindb
