#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/shards/shard_access.hpp"
#include "storage/shards/tile_reference.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// The outcome of a transaction.
struct ShardDecision {
  bool committed = false;
  std::vector<ContentRange> kept;  ///< if committed: its contents, ascending; others of it were undone
  ShardEpoch epoch = {};           ///< of the file that made the decision
};

/// A committed transaction that a worker has not acknowledged.
struct UnsettledCommit {
  ShardTransaction transaction{};
  ShardWorker worker;

  friend bool operator==(const UnsettledCommit&, const UnsettledCommit&) = default;
};

/// Contents without any reference, and one worker that has them.
struct ShardGarbage {
  ShardWorker worker;
  std::vector<ContentRange> contents;  ///< ascending
  std::int64_t as_of = 0;              ///< the number of the epoch in which this was so
};

/// The coordinator's record of workers and their transactions, in tables of its own:
///
///     eindb_workers(worker_id INTEGER PRIMARY KEY, data_id, address)       rows are never removed
///     eindb_shard_transactions(txn, first, last)       contents that it keeps; a row means that it is committed
///     eindb_shard_participants(txn, worker_id)         workers that have not acknowledged the commit yet
///     eindb_shard_garbage(worker_id, content_id)       to be dropped at the worker
///     eindb_shard_settings(name, value)                identity of the database, blocks of numbers taken, number of
///     the
///                                                      last epoch, identity of the file
///     eindb_shard_lineage(first, stamp)                the stamp of the epochs from `first` to the next row's
///     eindb_shard_former(identity)                     earlier identities that workers may know the database by
///     eindb_shard_leaving(worker_id, mark)             workers whose tiles move to others; each mark is a number of
///     its
///                                                      own
///
/// The rows of a transaction are written in the same SQLite transaction as its references: both exist or neither does,
/// and rolling back a savepoint undoes both. Threads: like its connection.
class ShardLog {
 public:
  explicit ShardLog(SqliteConnection& connection) : connection_(connection) {}

  /// All functions but exists() and create() need the tables; create() is a transaction of its own.
  bool exists();
  void create();

  /// Distinguishes the database from all others: a worker's directory belongs to one.
  std::int64_t database_identity();
  /// Its identities before it took another database's place: renew_identity().
  std::vector<std::int64_t> former_identities();
  /// The identity of this file (storage/files/file_identity) as last recorded; empty: never recorded.
  std::string file_identity();
  /// Must be called inside a transaction.
  void write_file_identity(const std::string& file);
  /// Inside a transaction: makes this a different database than the files it shares its past with. Workers that know it
  /// by a former identity accept it as the successor, unless former identities are forgotten.
  enum class Former : std::uint8_t { Kept, Forgotten };
  void renew_identity(Former former);
  /// Whether any tile is or ever was at a worker.
  bool has_workers();

  // Epochs.

  /// The set of tiles changes in the open transaction. `stamp` is that of the process.
  void advance(std::int64_t stamp);
  /// The last epoch.
  ShardEpoch epoch();
  std::int64_t epoch_number();
  /// Whether the file has passed through this epoch.
  bool knows(const ShardEpoch& epoch);
  /// Inside a transaction: epochs and blocks of numbers continue after these.
  void go_on_behind(std::int64_t epoch, std::int64_t block, std::int64_t stamp);

  /// Takes the next block of numbers (ShardNumbers::reserve()) in a commit of its own; must be outside any transaction.
  std::int64_t take_block();

  // Workers.

  /// The number of the worker's row, which is added or updated if necessary. Inside a transaction.
  WorkerNumber number_of(const ShardWorker& worker);
  /// Error{Corrupt} if there is no such row.
  ShardWorker worker(WorkerNumber worker);
  std::map<WorkerNumber, ShardWorker> workers();

  /// Whether the worker's tiles are to move to others, and new ones go elsewhere: from the end of the open transaction
  /// on. The caller counts the epoch up (advance) in the same transaction.
  void set_leaving(const ShardWorker& worker, bool leaves);
  /// The workers that leave, each with a number that no other time of leaving has.
  std::map<DataId, std::int64_t> leaving();

  // Transactions.

  /// Adds contents to the open transaction, which the workers have or will get.
  void keep(ShardTransaction transaction, ContentRange contents, std::span<const WorkerNumber> workers);
  /// Answers a worker, on a connection without a transaction. Waits until no write is in progress, so that the answer
  /// stays true. Error{Busy} if that takes too long; the worker asks again.
  ShardDecision decision(ShardTransaction transaction);
  std::vector<ContentRange> kept(ShardTransaction transaction);
  std::vector<UnsettledCommit> unsettled();
  /// The worker has made the commit durable. Forgets the transaction once all workers have.
  void acknowledge(ShardTransaction transaction, const ShardWorker& worker);

  // Garbage.

  /// Marks the content as garbage once the open transaction is committed.
  void discard(const TileReference& reference);
  /// The same for all references in a table of tiles.
  void discard_all(const std::string& table);
  /// Marks a content of one worker that has no reference.
  void discard(WorkerNumber worker, ContentId content);
  bool is_garbage(WorkerNumber worker, ContentId content);
  /// Grouped by worker.
  std::vector<ShardGarbage> garbage();
  void forget(const ShardGarbage& dropped);
  /// The workers that have garbage, or have not acknowledged a commit.
  std::vector<DataId> unsettled_workers();

 private:
  bool has_leaving();

  SqliteConnection& connection_;
};

}  // namespace eindb
