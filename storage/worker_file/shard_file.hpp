#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/file_descriptor.hpp"
#include "storage/encoding/tile_codec.hpp"
#include "storage/shards/shard_access.hpp"
#include "storage/tiles/database_file.hpp"
#include "storage/worker_file/disk_reserve.hpp"
#include "storage/worker_file/storage_watch.hpp"
#include "tensor/dtype.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Counts of the contents of a worker's file.
struct ShardUsage {
  std::int64_t contents = 0;
  std::int64_t bytes = 0;  ///< of the encoded tiles
};

/// The sharded contents that a worker keeps in its data directory: one SQLite file
///
///     eindb_contents(content_id INTEGER PRIMARY KEY, txn, tensor, tile BLOB)   encoded tiles; a transaction's together
///     eindb_moved(content_id INTEGER PRIMARY KEY, since)                       OutgoingContent::since of copies
///     eindb_open_transactions(txn INTEGER PRIMARY KEY, prepared, first, last)  until the coordinator's word is known
///     eindb_superseded(database INTEGER PRIMARY KEY)                 databases whose place was taken
///     eindb_shard(name, value)                                       identity of the directory, its database, and the
///                                                                    database's epoch
///
/// and a lock, so that no two workers use it. A content belongs to the tensor once its transaction is no longer open. A
/// transaction that was not prepared when the process or the machine stopped is discarded: its contents are gone when
/// the file is opened again. A prepared one waits for the coordinator's decision: undecided().
///
/// The effects of prepare(), commit() and drop() survive a crash of the machine; those of put() may not. Thread-safe;
/// writes run one at a time, concurrently with reads.
class ShardFile {
 public:
  /// Space reserved for the operations that must succeed on a full disk: abort, commit and drop.
  static constexpr std::int64_t kReserve = std::int64_t{16} << 20U;
  /// put() leaves this much of the disk free, in addition to the reserve.
  static constexpr std::int64_t kLeastFree = std::int64_t{16} << 20U;

  /// Creates the directory if it does not exist (its parent must). `most_bytes` limits the size of its files; 0: only
  /// the disk does. Uses the reserve on a full disk. Error{Busy} if another worker has the directory; Error{Io} and
  /// Error{Corrupt} as DatabaseFile.
  /// `shared` is a folder of directories that have the limit together with this one and the folder's parent; empty:
  /// this one has it alone.
  explicit ShardFile(const std::string& directory, std::int64_t most_bytes = 0, std::string shared = {});

  DataId id() const { return id_; }
  const std::string& directory() const { return directory_; }
  /// From now on the directory belongs to this database (ShardLog::database_identity). Error{Value} if it belongs to
  /// another one that is not among this one's `former` identities: that database's contents would be treated as
  /// garbage.
  void claim(std::int64_t database, std::span<const std::int64_t> former = {});
  /// Whether the directory belonged to this database before another one took its place.
  bool has_superseded(std::int64_t database);
  /// The identity of its database; 0 if there is none yet.
  std::int64_t database() const { return database_; }
  /// The last epoch of its database that it was told of; see ShardAccess::advance.
  ShardEpoch epoch();
  void advance(const ShardEpoch& epoch);

  /// Writes all contents or none. Error{Corrupt} if a content of that number exists; Error{Io} if too little space
  /// would remain.
  void put(ShardTransaction transaction, std::span<const OutgoingContent> contents);
  /// Error{WorkerLost} if there are fewer than `contents` contents: the worker was restarted meanwhile and has lost
  /// them. There may be more, left by an abandoned attempt at a statement; commit() drops those.
  void prepare(ShardTransaction transaction, std::int64_t contents);
  /// Drops the contents of the transaction outside `kept`, which is ascending. Does nothing if the transaction is not
  /// open.
  void commit(ShardTransaction transaction, std::span<const ContentRange> kept);
  void abort(ShardTransaction transaction);
  /// Aborts those of the transactions that are not prepared, because the connection that put them has ended. The
  /// coordinator may have prepared others on a new connection meanwhile.
  void abort_unprepared(std::span<const ShardTransaction> transactions);
  /// Transactions that are prepared, and neither committed nor aborted.
  std::vector<ShardTransaction> undecided();
  /// Copies that came after the epoch `as_of` stay.
  void drop(std::span<const ContentRange> contents, std::int64_t as_of);
  /// Overwrites or adds a content whose transaction has ended. Error{Conflict} if its transaction is open: that
  /// transaction should fail instead.
  void repair(const OutgoingContent& content);

  /// A reader of the stored content, null if there is none. It pins a state of the file while it exists. Not verified.
  std::unique_ptr<ByteSource> open(ContentId content);
  struct ContentSize {
    ContentId content{};
    std::int64_t bytes = 0;
  };
  /// The first content behind `last`, or of all; nullopt: there is none.
  std::optional<ContentSize> next_content(std::optional<ContentId> last);
  /// Whether the content can be read, and has the checksum that it states; true for one that is not there.
  bool is_intact(ContentId content);
  /// All contents, ascending.
  std::vector<ContentId> contents();
  /// The tile, null if there is none; `tile` is the context for load_tile. Error{Corrupt}.
  TilePtr read(ContentId content, DType dtype, const Shape& shape, std::string_view tile,
               TileForm form = TileForm::Values);

  using Usage = ShardUsage;
  /// Counted once, by reading the sizes of all contents, and kept up to date afterwards.
  Usage usage();
  /// Approximate bytes of contents that still fit; 0: the disk is full. Restores the reserve if it was used.
  std::int64_t room();

  /// One step of returning freed space to the disk, if space is short or much is free. True if more remains to be done.
  bool give_back();

  /// Measures whether the disk responds.
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

  /// Uses the space of the reserve if necessary.
  void change(Durability durability, const Action& action);
  void change_once(Durability durability, const Action& action);
  void require_room(std::span<const OutgoingContent> contents);
  std::int64_t free_bytes() const;
  std::int64_t free_page_bytes();
  SqliteConnection& connection() { return file_->connection(); }
  void make_giving_back();
  void insert(SqliteConnection& connection, std::int64_t transaction, const OutgoingContent& content,
              Operation& operation);
  TilePtr read_small(ContentId content, DType dtype, const Shape& shape, std::string_view tile, TileForm form);
  void remove(SqliteConnection& connection, ShardTransaction transaction, std::span<const ContentRange> kept);
  void remove_of(SqliteConnection& connection, ShardTransaction transaction, std::int64_t first, std::int64_t last);
  void count_removed(SqliteStatement& remove);
  static void forget_moved(SqliteConnection& connection, std::int64_t first, std::int64_t last);
  std::int64_t remove_some(SqliteConnection& connection, const ContentRange& range, std::int64_t most,
                           std::int64_t as_of);

  StorageWatch watch_;
  const std::string directory_;
  const std::int64_t most_bytes_;
  const std::string shared_;
  FileDescriptor lock_;
  DiskReserve reserve_;  // guarded by mutex_ once constructed
  std::unique_ptr<DatabaseFile> file_;
  DataId id_{};
  std::atomic<std::int64_t> database_{0};
  std::mutex mutex_;  // guards connection(), reserve_ and the members below
  Durability durability_ = Durability::Full;
  std::optional<Usage> usage_ = std::nullopt;  // nullopt: not counted yet
  Usage changed_ = {};                         // by the change that runs
};

}  // namespace eindb
