#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "storage/shards/shard_access.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

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
  /// What becomes of pages that are free: they wait for new content, or can be given back to the disk (a new file's
  /// auto_vacuum = INCREMENTAL).
  enum class FreePages : std::uint8_t { Kept, GivenBack };

  /// Opens `path`, or creates it for ReadWrite. Errors name the path: Io (missing directory, a directory, ...), Corrupt
  /// (no database), ReadOnly, Busy, Unsupported (a later schema version). A file that was made and failed is removed.
  /// ReadOnly opens what exists; SQLite may leave its empty -wal and -shm beside a file with a write-ahead log.
  explicit DatabaseFile(const std::string& path, Access access = Access::ReadWrite,
                        FreePages free_pages = FreePages::Kept);

  const std::string& path() const { return path_; }
  /// Where files go for what does not fit memory: beside the database, whose disk has room for its tensors.
  std::string scratch_directory() const;
  bool is_in_memory() const { return in_memory_; }
  bool is_read_only() const { return read_only_; }
  SqliteConnection& connection() { return *connection_; }
  /// As SqliteConnection::has_written().
  bool has_written() const { return connection_->has_written(); }

  /// Whether further connections can read while this one writes: a file with a write-ahead log.
  bool has_parallel_readers() const { return write_ahead_log_; }
  /// Sharded tensors lie at the workers that `access` reaches; before anything else is done with the database. Makes
  /// the tables for that, where the file can be written, and goes on with what was committed but not told to workers.
  void use_shards(std::shared_ptr<ShardAccess> access);
  /// Between statements: tells workers what was committed, and drops what nobody reads any more. Costs nothing where
  /// there is nothing to do.
  void settle_shards();

  /// A connection that only reads, for one thread; give it back when done, with no transaction open.
  std::unique_ptr<SqliteConnection> borrow_reader();
  void give_back(std::unique_ptr<SqliteConnection> reader) noexcept;

  /// What connections may take of the process's resident memory, in all about an eighth of `bytes`: pages that wait to
  /// be written, and pages of the file that `readers` beside connection() have mapped, which the whole process shares;
  /// the former by `own_bytes` where others have a part in the limit. Not while readers are lent.
  void limit_memory(std::int64_t bytes, int readers, std::int64_t own_bytes);
  /// Lets go of pages that no statement uses now, and of connections that nobody reads by. While nothing runs.
  void release_pages() noexcept;

  /// Stops the SQL that runs on connection(). Any thread, also a signal handler.
  void interrupt() noexcept { connection_->interrupt(); }

 private:
  void open_memory();
  void open_file(FreePages free_pages);
  void open_existing(FreePages free_pages);
  void open_new(FreePages free_pages);
  void configure(SqliteConnection& connection) const;
  void configure_memory(SqliteConnection& connection, std::int64_t cache_kib) const;
  void verify_versions();

  std::string path_;
  bool in_memory_;
  bool read_only_;
  bool write_ahead_log_ = false;
  std::int64_t mapped_bytes_;
  std::int64_t cache_kib_;
  std::shared_ptr<ShardAccess> shards_;
  std::unique_ptr<SqliteConnection> connection_;
  std::mutex readers_mutex_;                                     // guards idle_readers_
  std::vector<std::unique_ptr<SqliteConnection>> idle_readers_;  // closed before connection_, which checkpoints
};

}  // namespace eindb
