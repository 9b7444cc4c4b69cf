#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/file_descriptor.hpp"
#include "storage/shards/shard_access.hpp"
#include "storage/tiles/database_file.hpp"
#include "storage/worker_file/disk_reserve.hpp"
#include "storage/worker_file/storage_watch.hpp"
#include "tensor/dtype.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// What a worker keeps of sharded tensors, in its data directory: one SQLite file
///
///     eindb_contents(content_id INTEGER PRIMARY KEY, txn, tensor, tile BLOB)   encoded tiles; a transaction's together
///     eindb_open_transactions(txn INTEGER PRIMARY KEY, prepared, first, last)  until the coordinator's word is known
///     eindb_shard(name, value)                                       identity of the directory, its database, and the
///                                                                    database's epoch
///
/// and a lock, so that no two workers have it. A content belongs to the tensor once its transaction is not open any
/// more. A transaction that was not prepared when the process or the machine stopped has never been: its contents are
/// gone when the file is opened again. One that was prepared waits for the coordinator's decision: undecided().
///
/// After prepare(), commit() and drop() what they did survives a crash of the machine; what put() did may not.
/// Threads: any; writes are one at a time, reads go on beside them.
class ShardFile {
 public:
  /// Room that is held for what has to be possible on a full disk: to abort, commit and drop.
  static constexpr std::int64_t kReserve = std::int64_t{16} << 20U;
  /// put() leaves so much of the disk, beside the reserve.
  static constexpr std::int64_t kLeastFree = std::int64_t{16} << 20U;

  /// Makes the directory if there is none (its parent is there). `most_bytes`: that its files may take; 0: the disk's.
  /// On a full disk it uses its reserve. Error{Busy} if another worker has the directory, Error{Io}, Error{Corrupt} as
  /// DatabaseFile.
  explicit ShardFile(const std::string& directory, std::int64_t most_bytes = 0);

  DataId id() const { return id_; }
  /// The directory belongs to this database (ShardLog::database_identity) from now on. Error{Value} if it belongs to
  /// another, whose contents would be taken for garbage, and which is none of those that this one has been (`former`).
  void claim(std::int64_t database, std::span<const std::int64_t> former = {});
  /// Whose it is; 0: nobody's yet.
  std::int64_t database() const { return database_; }
  /// The last one of its database that it was told of: see ShardAccess::advance.
  ShardEpoch epoch();
  void advance(const ShardEpoch& epoch);

  /// All of them or none. Error{Corrupt} if there is a content of that number; Error{Io} if that would leave too little
  /// room.
  void put(ShardTransaction transaction, std::span<const OutgoingContent> contents);
  /// Error{WorkerLost} if it has fewer contents than that: the worker was started anew meanwhile, and has forgotten all
  /// of them. It may have more, of an attempt at a statement that was given up; commit() drops those.
  void prepare(ShardTransaction transaction, std::int64_t contents);
  /// Contents of the transaction outside `kept`, which is ascending, are dropped. Nothing if it is not open.
  void commit(ShardTransaction transaction, std::span<const ContentRange> kept);
  void abort(ShardTransaction transaction);
  /// Aborts those of these that are not prepared: the connection that they were put by has ended. The coordinator may
  /// be back on another meanwhile, and may have prepared them there.
  void abort_unprepared(std::span<const ShardTransaction> transactions);
  /// Prepared, and neither committed nor aborted.
  std::vector<ShardTransaction> undecided();
  void drop(std::span<const ContentId> contents);
  /// Writes a content of a transaction that has ended in place of what is there of it, if anything is. Error{Conflict}
  /// if its transaction is open: that one is to fail instead.
  void repair(const OutgoingContent& content);

  /// The content where it lies, null if there is none; holds a state of the file until it is gone. Not verified.
  std::unique_ptr<ByteSource> open(ContentId content);
  /// All, in ascending order.
  std::vector<ContentId> contents();
  /// The tile, null if there is none; `tile` as decode_tile's context. Error{Corrupt}.
  TilePtr read(ContentId content, DType dtype, const Shape& shape, std::string_view tile);

  struct Usage {
    std::int64_t contents = 0;
    std::int64_t bytes = 0;  ///< of the encoded tiles
  };
  /// Looks at all of them.
  Usage usage();
  /// Bytes of further contents that there is room for, about; 0: the disk is full. Takes the reserve again if it was
  /// used.
  std::int64_t room();

  /// One step of giving back to the disk what was dropped, where there is little room or much to be had. True if there
  /// is more to do.
  bool give_back();

  /// Whether the disk answers.
  StorageWatch& watch() { return watch_; }

 private:
  class OpenContent;

  /// Whether a commit waits for the disk.
  enum class Durability : std::uint8_t { Lazy, Full };

  using Operation = StorageWatch::Operation;

  void make_tables();
  std::int64_t setting(std::string_view name);
  void abort_all_unprepared();
  using Action = std::function<void(SqliteConnection&, Operation&)>;

  /// With the reserve's room, if it takes that.
  void change(Durability durability, const Action& action);
  void change_once(Durability durability, const Action& action);
  void require_room(std::span<const OutgoingContent> contents);
  std::int64_t free_bytes() const;
  std::int64_t free_page_bytes();
  SqliteConnection& connection() { return file_->connection(); }
  void make_giving_back();
  static void insert(SqliteConnection& connection, std::int64_t transaction, const OutgoingContent& content,
                     Operation& operation);
  void remove(SqliteConnection& connection, ShardTransaction transaction, std::span<const ContentRange> kept);

  StorageWatch watch_;
  const std::string directory_;
  const std::int64_t most_bytes_;
  FileDescriptor lock_;
  DiskReserve reserve_;  // guarded by mutex_ from the constructor's end on
  std::unique_ptr<DatabaseFile> file_;
  DataId id_{};
  std::atomic<std::int64_t> database_{0};
  std::mutex mutex_;  // guards connection(), reserve_ and what follows
  Durability durability_ = Durability::Full;
};

}  // namespace eindb
