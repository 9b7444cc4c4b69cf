#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/broken_pairs.hpp"
#include "cluster/cluster_statement.hpp"
#include "cluster/connector.hpp"
#include "cluster/control_message.hpp"
#include "cluster/damaged_copies.hpp"
#include "cluster/exchange_factory.hpp"
#include "cluster/move_options.hpp"
#include "cluster/move_progress.hpp"
#include "cluster/node_log.hpp"
#include "cluster/worker_status.hpp"
#include "common/cancellation.hpp"
#include "executor/exchange.hpp"
#include "storage/shards/shard_access.hpp"
#include "storage/shards/shard_log.hpp"

namespace eindb {

struct ClusterOptions {
  std::vector<std::string> workers;  ///< addresses, in the order of ranks
  std::chrono::milliseconds heartbeat = std::chrono::seconds(1);
  /// The coordinator's process is a rank that computes as workers do, and all workers take part in every statement: see
  /// Cluster::coordinator_computes.
  bool coordinator_computes = false;
  /// Addresses of workers that keep a copy of the coordinator's file (StandbyStream).
  std::vector<std::string> standbys = {};
  MoveOptions moves = {};
};

/// The outcome of a transaction that a worker has prepared but whose end it does not know: ShardLog::decision() on a
/// connection without a transaction. Called by threads of the cluster, several at a time. Throws if the outcome cannot
/// be determined.
using ShardDecider = std::function<ShardDecision(ShardTransaction)>;

/// Tells the connected workers about commits, and makes them drop contents without references
/// (ShardedContents::settle). Returns false if some contents must be dropped, or commits told, later. Called by threads
/// of the cluster, one at a time.
using ShardSettler = std::function<bool(ShardAccess& shards)>;

/// Whether the database's file was ever at the epoch: ShardLog::knows(). Called by threads of the cluster, one at a
/// time.
using ShardHistory = std::function<bool(const ShardEpoch& epoch)>;

/// Does a little of the work in the background that the database needs at its workers, such as moving tiles. Returns
/// after how long to call it again, at most `idle`. Called by one thread of the cluster; what it throws is logged.
using ShardKeeper = std::function<std::chrono::milliseconds(
    ShardAccess& shards, const std::vector<WorkerStatus>& workers, std::chrono::milliseconds idle)>;

/// The database whose tensors are stored at the workers.
struct ClusterDatabase {
  std::int64_t identity = 0;              ///< ShardLog::database_identity(); 0: none yet
  std::vector<std::int64_t> former = {};  ///< ShardLog::former_identities()
  std::vector<ShardWorker> known = {};    ///< data directories seen before, with their addresses
  bool transient = false;                 ///< the database is in memory
  std::string path = {};                  ///< of its file, for standbys; empty: it cannot be copied
  /// Set both or none. Without them, workers that join again do not learn what they missed.
  ShardDecider decider = nullptr;
  ShardSettler settler = nullptr;
  /// Detects a worker that has served a later state of the database, or another file copied from it. Such a worker does
  /// not join, and no other stays, since the file's tiles may be gone. Null: not checked.
  ShardHistory history = nullptr;
  ShardKeeper keeper = nullptr;  ///< null: nothing is done in the background
};

/// The coordinator's side of a cluster: connects to the workers, monitors them, runs statements on them, and accesses
/// the contents they store. One per database and process, shared by its sessions. Thread-safe.
///
/// A worker that does not answer for kMissedHeartbeats is lost: its statements end at all ranks with an
/// Error{WorkerLost} that names it. The coordinator tries to reach it until it returns, which it can only with the same
/// data directory. A worker that reports a hanging disk is treated the same way until it reports that the disk answers.
class Cluster {
 public:
  /// Connector, exchanges and log must outlive the cluster. Error{Value} if an address occurs twice, or a standby is
  /// none of the workers.
  Cluster(ClusterOptions options, Connector& connector, ExchangeFactory& exchanges, NodeLog& log);
  /// No statement may be running.
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// Starts connecting to the workers, and keeps them connected. Only the first call has an effect. Error{Value} for a
  /// standby of a database that has no file.
  void begin(ClusterDatabase database);

  /// Whether the coordinator's rank, the last one, computes as the workers' ranks do. Statements then need all workers.
  bool coordinator_computes() const;
  /// The transport that carries data between the ranks of a statement.
  Transport transport() const;
  /// The workers in the order of the options.
  std::vector<WorkerStatus> workers() const;
  /// Call after begin(). Waits at most that long until all workers have joined or failed to, and standbys that
  /// have joined are current or have failed, and returns workers().
  std::vector<WorkerStatus> wait_for_workers(std::chrono::milliseconds at_most);

  /// Pairs of connected workers that exchange no data, by their data directories; DataId{} stands for the coordinator.
  /// No statement may use both workers of a pair.
  std::vector<BrokenPair> broken_pairs() const;

  /// Runs a statement. Workers run their ranks; the caller's thread runs the coordinator's rank by `own_part`, which
  /// returns its profile. The number of concurrent statements is limited so that each has enough of the workers'
  /// memory; others wait. Returns the reports of all ranks; `stored` is set for ranks that hold tiles of results to be
  /// stored.
  ///
  /// Throws the first failure once all ranks have ended or were told to: Error{WorkerLost} naming a worker that is lost
  /// or, as workers() then shows, draining; or naming two workers that do not reach each other, which broken_pairs()
  /// then has unless a probe succeeds; Error{Cancelled} if `cancellation` asks for it. Nothing is committed then; the
  /// caller must abort the transaction of `results`.
  std::vector<RankReport> run(const ClusterStatement& statement, const Cancellation& cancellation,
                              const OwnPart& own_part);

  /// Access to the contents of sharded tensors at the workers, for the sessions' ShardedContents.
  std::shared_ptr<ShardAccess> shards();

  /// The list of all contents at a worker. Throws the errors of ShardAccess.
  std::vector<ContentId> stored_contents(DataId worker);
  /// Changes the identity of the database; `former` are its earlier identities. The connected workers serve the new one
  /// afterwards. Error{Value} if a worker belongs to none of them, Error{WorkerLost}.
  void claim(std::int64_t database, const std::vector<std::int64_t>& former);
  /// The damaged copies of tiles that statements have found.
  DamagedCopies& damaged_copies() const;

  /// How tiles move between workers, and how far they have.
  const MoveOptions& move_options() const;
  MoveProgress& move_progress();
  const MoveProgress& move_progress() const;
  /// Has the keeper look at once whether there is something to do.
  void wake_keeper() noexcept;
  NodeLog& log();

  /// Asks a worker to finish its statements and leave. Error{UnknownName} if there is none at this address,
  /// Error{WorkerLost} if it cannot be reached.
  void drain(std::string_view address);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace eindb
