#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/shards/shard_access.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// An open database: one connection that writes, and further connections for tasks that read tiles concurrently.
///
/// A new file gets 64 KiB pages, a write-ahead log and eindb's application id. An existing SQLite database of any
/// origin is accepted unchanged; the catalog adds its tables when the first tensor is created. ":memory:" is a private
/// database with a single connection: SQLite's memdb VFS, which several connections could share, holds less than 2 GiB
/// and reads at a third of the speed.
///
/// Threads: connection() as documented in SqliteConnection; the rest from any thread.
class DatabaseFile {
 public:
  enum class Access : std::uint8_t { ReadWrite, ReadOnly };
  /// The use of free pages: kept for new content, or returned to the disk (auto_vacuum = INCREMENTAL, set in a new
  /// file).
  enum class FreePages : std::uint8_t { Kept, GivenBack };

  /// Opens `path`; ReadWrite creates it if it does not exist. Errors name the path: Io (missing directory, a directory,
  /// ...), Corrupt (no database), ReadOnly, Busy, Unsupported (a later schema version). On an error, a file created
  /// here is removed. ReadOnly requires an existing file; SQLite may leave empty -wal and -shm files beside a file with
  /// a write-ahead log.
  explicit DatabaseFile(const std::string& path, Access access = Access::ReadWrite,
                        FreePages free_pages = FreePages::Kept);

  const std::string& path() const { return path_; }
  /// The directory of scratch files: that of the database, whose disk has room for its tensors. Empty in memory, which
  /// stands for temporary_directory().
  std::string scratch_directory() const;
  bool is_in_memory() const { return in_memory_; }
  bool is_read_only() const { return read_only_; }
  SqliteConnection& connection() { return *connection_; }
  /// Like SqliteConnection::has_written().
  bool has_written() const { return connection_->has_written(); }

  /// Whether other connections can read while this one writes, which requires a write-ahead log.
  bool has_parallel_readers() const { return write_ahead_log_; }
  /// Reads and writes sharded tensors at the workers that `access` reaches; must be the first call on the database.
  /// Creates the tables for it if the file is writable, and continues with commits that workers have not been told of.
  void use_shards(std::shared_ptr<ShardAccess> access);
  /// Between statements: tells workers of commits, and drops contents that nobody reads any more. Costs nothing if
  /// there is nothing to do.
  void settle_shards();

  /// A read-only connection for one thread. Give it back without an open transaction.
  std::unique_ptr<SqliteConnection> borrow_reader();
  void give_back(std::unique_ptr<SqliteConnection> reader) noexcept;
  /// The commits of others that a reader had seen when they were noted last; nullopt if that was another reader's.
  std::optional<std::int64_t> noted_commits(const SqliteConnection& reader);
  void note_commits(const SqliteConnection& reader, std::int64_t commits);

  /// Limits the resident memory of connections to about an eighth of the memory limit: `own_bytes` is the part of the
  /// limit that bounds pages waiting to be written, `bytes` bounds the mapped pages of connection() and `readers`
  /// others, which the whole process shares. No reader may be lent out.
  void limit_memory(std::int64_t bytes, int readers, std::int64_t own_bytes);
  /// Frees cached pages that no statement uses, and idle readers. Nothing may be running.
  void release_pages() noexcept;

  /// Attaches another file, of eindb or of SQLite alone, as a schema of connection(): it is only read. It is never
  /// created, nor attached twice. Errors name the path, as those of the constructor do.
  void attach(const std::string& path, const std::string& schema);

  /// Stops the SQL running on connection(). Safe from any thread and from signal handlers.
  void interrupt() noexcept { connection_->interrupt(); }

 private:
  void open_memory();
  void open_file(FreePages free_pages);
  void open_existing(FreePages free_pages);
  void open_new(FreePages free_pages);
  void configure(SqliteConnection& connection) const;
  void configure_memory(SqliteConnection& connection, std::int64_t cache_kib) const;
  void verify_versions(const std::string& path, std::string_view schema);
  void require_other_file(const std::string& path) const;
  void attach_existing(const std::string& path, const std::string& schema);

  std::string path_;
  bool in_memory_;
  bool read_only_;
  bool write_ahead_log_ = false;
  std::int64_t mapped_bytes_;
  std::int64_t cache_kib_;
  std::shared_ptr<ShardAccess> shards_;
  std::unique_ptr<SqliteConnection> connection_;
  std::mutex readers_mutex_;                                     // guards the members below
  std::vector<std::unique_ptr<SqliteConnection>> idle_readers_;  // closed before connection_, which checkpoints
  const SqliteConnection* noting_reader_ = nullptr;              // null: none that is still open
  std::int64_t noted_commits_ = 0;
};

}  // namespace eindb
