#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "storage/tiles/database_file.hpp"
#include "storage/tiles/tile_store.hpp"

namespace eindb {

/// One state of the database for the time of one statement: tasks read tiles from it at the same time, and no commit by
/// another session or program shows up half-way.
///
/// A statement that writes begins its SqliteTransaction first, then takes the snapshot; one that reads takes the
/// snapshot, then reads the catalog. The readers are connections of their own where they see the same state as
/// DatabaseFile::connection(), that is
///   - outside any transaction: a read transaction is opened on the connection for the life of the snapshot;
///   - inside a SqliteTransaction that has changed nothing yet;
/// otherwise (uncommitted changes, a database in memory, no write-ahead log) all tasks share the connection, one at a
/// time. A reader joins when a task finds none free: none does for a statement that reads no tile. SQLite cannot open
/// an old state, so that a reader joins only if nothing was committed since; if something was, the snapshot goes on
/// with the readers it has, or with the connection if it has none.
///
/// Threads: read() from any; built and destroyed by the thread that owns the connection, before its transaction ends.
class ReadSnapshot {
 public:
  /// `max_readers` is the number of tasks that read at the same time, at least 1.
  ReadSnapshot(DatabaseFile& database, std::size_t max_readers);
  ~ReadSnapshot();
  ReadSnapshot(const ReadSnapshot&) = delete;
  ReadSnapshot& operator=(const ReadSnapshot&) = delete;

  /// The tile, or null if it is all zero; see TileStore::read.
  TilePtr read(const TileStore& store, std::int64_t tile_id);

  /// Whether tiles are read as they were when the snapshot was taken, whatever the database's connection writes
  /// meanwhile.
  bool is_apart() const { return parallel_; }

  /// Connections beside the database's own that read now; 0 if tasks share that one.
  std::size_t reader_count();

 private:
  class Lease;

  void open();
  void release() noexcept;
  void begin_transaction();
  void end_transaction();
  /// Null if something was committed since the snapshot was taken.
  std::unique_ptr<SqliteConnection> join();
  std::int64_t commits_seen();
  /// Null if tasks are to share the database's connection.
  std::unique_ptr<SqliteConnection> take();
  void put(std::unique_ptr<SqliteConnection> reader) noexcept;
  void close(std::unique_ptr<SqliteConnection> reader) noexcept;

  DatabaseFile& database_;
  const bool parallel_;
  bool holds_transaction_ = false;  // opened here on the database's connection
  std::size_t max_readers_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable returned_;
  std::unique_ptr<SqliteConnection> watcher_;  // in no transaction: it sees the commits of all others
  std::int64_t commits_ = 0;                   // the watcher's data_version when the snapshot was taken
  std::vector<std::unique_ptr<SqliteConnection>> idle_;
  std::size_t reader_count_ = 0;
};

}  // namespace eindb
