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

/// What became of a transaction.
struct ShardDecision {
  bool committed = false;
  std::vector<ContentRange> kept;  ///< where committed: its contents, ascending; others of it were undone
  ShardEpoch epoch = {};           ///< of the file that says so
};

/// A committed transaction that a worker has not acknowledged.
struct UnsettledCommit {
  ShardTransaction transaction{};
  ShardWorker worker;

  friend bool operator==(const UnsettledCommit&, const UnsettledCommit&) = default;
};

/// Contents that nobody refers to, and one worker that has them.
struct ShardGarbage {
  ShardWorker worker;
  std::vector<ContentId> contents;
};

/// What the coordinator's file knows of workers and of transactions with them, in tables of its own:
///
///     eindb_workers(worker_id INTEGER PRIMARY KEY, data_id, address)       rows are never removed
///     eindb_shard_transactions(txn, first, last)       contents that it keeps; committed, as the row is there
///     eindb_shard_participants(txn, worker_id)         who has not acknowledged that yet
///     eindb_shard_garbage(worker_id, content_id)       to be dropped at the worker
///     eindb_shard_settings(name, value)                identity of the database, blocks of numbers given away, the
///     last
///                                                      epoch's number, and which file it is in
///     eindb_shard_lineage(first, stamp)                of the epochs from `first` on, up to the next row's, the stamp
///     eindb_shard_former(identity)                     identities that the database had, and workers may know it by
///
/// All rows of a transaction are written in the SQLite transaction that its references are written in: both are there
/// or neither is, and what a savepoint undoes is undone here, too. Threads: as its connection.
class ShardLog {
 public:
  explicit ShardLog(SqliteConnection& connection) : connection_(connection) {}

  /// What follows needs the tables, but for exists() and create(), which is a transaction of its own.
  bool exists();
  void create();

  /// Tells the database from all others: a worker's directory belongs to one.
  std::int64_t database_identity();
  /// Those that it had before it took another's place: renew_identity().
  std::vector<std::int64_t> former_identities();
  /// The file that this one is (FileIdentity), as somebody has written down last; empty: nobody has.
  std::string file_identity();
  /// Inside a transaction.
  void write_file_identity(const std::string& file);
  /// Inside a transaction: from now on it is another database than the files that it shares its past with. Workers that
  /// know it by a former identity take it for that one's successor, unless those are forgotten.
  enum class Former : std::uint8_t { Kept, Forgotten };
  void renew_identity(Former former);
  /// Whether a tile lies, or ever lay, at a worker.
  bool has_workers();

  // Epochs.

  /// What tiles there are changes with the transaction that is open. `stamp`: of the process.
  void advance(std::int64_t stamp);
  /// The last one.
  ShardEpoch epoch();
  /// Whether the file has been there.
  bool knows(const ShardEpoch& epoch);
  /// Inside a transaction: epochs and blocks of numbers go on behind these.
  void go_on_behind(std::int64_t epoch, std::int64_t block, std::int64_t stamp);

  /// One more is given away (ShardNumbers::reserve()), by a commit of its own: outside any transaction.
  std::int64_t take_block();

  // Workers.

  /// The worker's row, made or brought up to date if need be, inside a transaction.
  WorkerNumber number_of(const ShardWorker& worker);
  /// Error{Corrupt} if there is none.
  ShardWorker worker(WorkerNumber worker);
  std::map<WorkerNumber, ShardWorker> workers();

  // Transactions.

  /// The transaction that is open is to have these contents, too, which the workers have or are going to have.
  void keep(ShardTransaction transaction, ContentRange contents, std::span<const WorkerNumber> workers);
  /// For workers that ask, on a connection that has no transaction: waits until no change is under way, so that the
  /// answer stays true. Error{Busy} if that takes too long: the worker asks again.
  ShardDecision decision(ShardTransaction transaction);
  std::vector<ContentRange> kept(ShardTransaction transaction);
  std::vector<UnsettledCommit> unsettled();
  /// The worker has made the commit durable. Forgets the transaction when all have.
  void acknowledge(ShardTransaction transaction, const ShardWorker& worker);

  // Garbage.

  /// Nothing refers to the content any more, once the transaction that is open is committed.
  void discard(const TileReference& reference);
  /// The same for all references in a table of tiles.
  void discard_all(const std::string& table);
  /// A worker has it, and nothing refers to it.
  void discard(WorkerNumber worker, ContentId content);
  /// By worker.
  std::vector<ShardGarbage> garbage();
  void forget(const ShardGarbage& dropped);

 private:
  SqliteConnection& connection_;
};

}  // namespace eindb
