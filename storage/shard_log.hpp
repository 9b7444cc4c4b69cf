#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/shard_access.hpp"
#include "storage/sqlite_connection.hpp"
#include "storage/tile_reference.hpp"

namespace eindb {

/// What became of a transaction.
struct ShardDecision {
  bool committed = false;
  std::vector<ContentRange> kept;  ///< where committed: its contents, ascending; others of it were undone
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
///     eindb_shard_settings(name, value)                identity of the database, blocks of numbers given away
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
  /// Of ShardNumbers: one more is given away.
  std::int64_t next_block();

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
  /// By worker.
  std::vector<ShardGarbage> garbage();
  void forget(const ShardGarbage& dropped);

 private:
  SqliteConnection& connection_;
};

}  // namespace eindb
