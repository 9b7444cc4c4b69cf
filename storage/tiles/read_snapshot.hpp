#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "storage/tiles/database_file.hpp"
#include "storage/tiles/tile_store.hpp"

namespace eindb {

/// One state of the database for the duration of one statement. Tasks read tiles from it concurrently, and see no part
/// of commits by other sessions or programs.
///
/// A statement that writes begins its SqliteTransaction first, then takes the snapshot; one that reads takes the
/// snapshot, then reads the catalog. Readers are connections of their own if they see the same state as
/// DatabaseFile::connection(), that is
/// - outside any transaction; a read transaction is then open on the connection as long as the snapshot exists;
/// - inside a SqliteTransaction that has changed nothing yet and keeps others from writing.
///
/// Otherwise (uncommitted changes, a database in memory, no write-ahead log) all tasks share the connection, one at a
/// time; so they do for temporary tensors and for those of attached databases, which no other connection has. Attached
/// databases are read in one state, too: others may write them meanwhile, whatever the database itself is. A reader
/// joins when a task finds none idle, so a statement that reads no tile opens none. SQLite cannot open an old state.
/// Therefore a reader can join only if nothing was committed since the snapshot was taken; otherwise the snapshot
/// continues with the readers that it has, or with the connection if it has none.
///
/// Threads: read() from any thread; constructed and destroyed on the thread that owns the connection, before its
/// transaction ends.
class ReadSnapshot {
 public:
  /// `max_readers` is the number of tasks that read concurrently, at least 1.
  ReadSnapshot(DatabaseFile& database, std::size_t max_readers);
  ~ReadSnapshot();
  ReadSnapshot(const ReadSnapshot&) = delete;
  ReadSnapshot& operator=(const ReadSnapshot&) = delete;

  /// The tile, or null if it is all zero; see TileStore::read.
  TilePtr read(const TileStore& store, std::int64_t tile_id);
  /// See TileStore::load.
  TilePtr load(const TileStore& store, std::int64_t tile_id, DType type);
  /// Runs `work` with a connection of the snapshot, which reads the store's tiles.
  void read_with(const TileStore& store, const std::function<void(SqliteConnection&)>& work);

  /// Whether tiles of the file are read as of the time of the snapshot, regardless of later writes by the database's
  /// connection.
  bool is_apart() const { return parallel_; }

  /// The number of reading connections beside the database's own; 0 if tasks share that one.
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
  /// Null if tasks should share the database's connection.
  std::unique_ptr<SqliteConnection> take();
  void put(std::unique_ptr<SqliteConnection> reader) noexcept;
  void close(std::unique_ptr<SqliteConnection> reader) noexcept;

  DatabaseFile& database_;
  const bool parallel_;
  bool holds_transaction_ = false;  // opened by the snapshot on the database's connection
  std::size_t max_readers_;

  std::mutex mutex_;  // guards the members below
  std::condition_variable returned_;
  std::unique_ptr<SqliteConnection> watcher_;  // outside any transaction, so that it sees the commits of all others
  std::int64_t commits_ = 0;                   // the watcher's data_version when the snapshot was taken
  std::vector<std::unique_ptr<SqliteConnection>> idle_;
  std::size_t reader_count_ = 0;
};

}  // namespace eindb
