#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/database_file.hpp"
#include "storage/file_descriptor.hpp"
#include "storage/shard_access.hpp"
#include "tensor/dtype.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// What a worker keeps of sharded tensors, in its data directory: one SQLite file
///
///     eindb_contents(content_id INTEGER PRIMARY KEY, txn, tensor, tile BLOB)   encoded tiles; a transaction's together
///     eindb_open_transactions(txn INTEGER PRIMARY KEY, prepared, first, last)  until the coordinator's word is known
///     eindb_shard(name, value)                                       identity of the directory, and its database
///
/// and a lock, so that no two workers have it. A content belongs to the tensor once its transaction is not open any
/// more. A transaction that was not prepared when the process or the machine stopped has never been: its contents are
/// gone when the file is opened again. One that was prepared waits for the coordinator's decision: undecided().
///
/// After prepare(), commit() and drop() what they did survives a crash of the machine; what put() did may not.
/// Threads: any; writes are one at a time, reads go on beside them.
class ShardFile {
 public:
  /// Makes the directory if there is none (its parent is there). Error{Busy} if another worker has it, Error{Io},
  /// Error{Corrupt} as DatabaseFile.
  explicit ShardFile(const std::string& directory);

  DataId id() const { return id_; }
  /// The directory belongs to this database (ShardLog::database_identity) from now on. Error{Value} if it belongs to
  /// another, whose contents would be taken for garbage.
  void claim(std::int64_t database);

  /// All of them or none. Error{Corrupt} if there is a content of that number.
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

  /// The content where it lies, null if there is none; holds a state of the file until it is gone. Not verified.
  std::unique_ptr<ByteSource> open(ContentId content);
  /// The tile, null if there is none; `tile` as decode_tile's context. Error{Corrupt}.
  TilePtr read(ContentId content, DType dtype, const Shape& shape, std::string_view tile);

  struct Usage {
    std::int64_t contents = 0;
    std::int64_t bytes = 0;  ///< of the encoded tiles
  };
  Usage usage();

 private:
  class OpenContent;

  /// Whether a commit waits for the disk.
  enum class Durability : std::uint8_t { Lazy, Full };

  void make_tables();
  void abort_all_unprepared();
  void change(Durability durability, const std::function<void(SqliteConnection&)>& action);
  void remove(SqliteConnection& connection, ShardTransaction transaction, std::span<const ContentRange> kept);

  FileDescriptor lock_;
  DatabaseFile file_;
  DataId id_{};
  std::mutex mutex_;  // guards file_.connection() and what follows
  Durability durability_ = Durability::Full;
};

}  // namespace eindb
