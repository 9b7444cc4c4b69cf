#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/broken_pairs.hpp"
#include "cluster/connector.hpp"
#include "cluster/control_message.hpp"
#include "cluster/damaged_copies.hpp"
#include "cluster/exchange_factory.hpp"
#include "cluster/node_log.hpp"
#include "cluster/worker_status.hpp"
#include "common/cancellation.hpp"
#include "executor/exchange.hpp"
#include "plan/distributed_plan.hpp"
#include "storage/shards/shard_access.hpp"
#include "storage/shards/shard_log.hpp"

namespace eindb {

struct ClusterOptions {
  std::vector<std::string> workers;  ///< addresses, in the order of ranks
  std::chrono::milliseconds heartbeat = std::chrono::seconds(1);
  /// Its process is a rank that computes as workers do, and all of them take part in every statement: see
  /// Cluster::coordinator_computes.
  bool coordinator_computes = false;
};

/// What became of a transaction that a worker has prepared and knows no end of: ShardLog::decision() on a connection
/// that has no transaction. Called by threads of the cluster, one at a time. Throws what keeps it from knowing.
using ShardDecider = std::function<ShardDecision(ShardTransaction)>;

/// Tells the workers that are there what was committed, and has them drop what nobody refers to any more
/// (ShardedContents::settle). False if there is more to be dropped, or to be told, as soon as nobody is in the way.
/// Called as the decider.
using ShardSettler = std::function<bool(ShardAccess& shards)>;

/// Whether the database's file has been at the epoch: ShardLog::knows(). Called by threads of the cluster, one at a
/// time.
using ShardHistory = std::function<bool(const ShardEpoch& epoch)>;

/// The database whose tensors lie at the workers.
struct ClusterDatabase {
  std::int64_t identity = 0;  ///< ShardLog::database_identity(): workers that belong to another refuse; 0: none yet
  std::vector<std::int64_t> former = {};  ///< ShardLog::former_identities()
  std::vector<ShardWorker> known = {};    ///< the data directories that were seen before, and where
  /// Both or none. Without them workers that have missed something do not hear of it when they join again.
  ShardDecider decider = nullptr;
  ShardSettler settler = nullptr;
  /// A worker that has served a later state of the database, or another file that was copied from it, does not join,
  /// and no other stays: the file's tiles may be gone. Absent: that is not looked at.
  ShardHistory history = nullptr;
};

/// A statement to be run by a cluster. What is referred to outlives the run.
struct ClusterStatement {
  const DistributedPlan& plan;
  std::span<const TileHolders> holders;
  /// Who the ranks are, in their order without the coordinator's.
  std::vector<DataId> workers;
  /// Of each list of holders the contents of its tiles, tile by tile; of tiles without holders any. Empty lists are of
  /// tensors that no worker holds.
  std::span<const std::vector<ContentId>> contents;
  /// Of each result of the plan; absent where workers do not store it. Empty if they store none.
  std::vector<std::optional<ResultContents>> results;
  std::uint32_t threads = 0;      ///< at a worker; 0: as many as it has
  std::int64_t memory_limit = 0;  ///< at a worker; 0: what it has to give
};

/// The coordinator's own part in a statement, in the caller's thread; the Cancellation asks it to stop when the
/// statement's does, and when it has failed elsewhere.
using OwnPart = std::function<ExecutionProfile(Exchange&, const Cancellation&)>;

/// The coordinator's side of a cluster: finds the workers, watches them, runs statements on them, and reaches what they
/// store. One for a database and process, shared by its sessions. Thread-safe.
///
/// A worker that does not answer for kMissedHeartbeats is lost: statements that it took part in end with
/// Error{WorkerLost}, which names it, at all ranks. It is tried again until it comes back, which it can only with the
/// data directory that it had. One that says that its disk hangs is treated alike, until it says that the disk answers.
class Cluster {
 public:
  /// Connector, exchanges and log outlive it. Error{Value} if an address stands there twice.
  Cluster(ClusterOptions options, Connector& connector, ExchangeFactory& exchanges, NodeLog& log);
  /// No statement runs any more.
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// Begins to connect, and keeps workers connected from now on. Once; later calls do nothing.
  void begin(ClusterDatabase database);

  /// Whether the coordinator's rank, which is the last, computes as those of the workers do; statements then need all
  /// workers.
  bool coordinator_computes() const;
  /// In the order of the options.
  std::vector<WorkerStatus> workers() const;
  /// After begin(): waits until all workers have joined, or failed to, at most so long; gives workers().
  std::vector<WorkerStatus> wait_for_workers(std::chrono::milliseconds at_most);

  /// Of the workers that are there, those between which no data goes, by their data directories; DataId{} in place of
  /// the coordinator. No statement is to have both.
  std::vector<BrokenPair> broken_pairs() const;

  /// Runs the statement: workers their ranks, and the caller's thread that of the coordinator, by `own_part`, which
  /// gives its profile. Only so many run at a time as have enough of the workers' memory; others wait. Gives the
  /// reports of all ranks; `stored` of those that hold tiles of results to be stored.
  ///
  /// Throws what failed first, when all ranks have ended or were told to: Error{WorkerLost} that names the worker,
  /// which is lost or, as workers() knows by then, being drained; or two that do not reach each other, which
  /// broken_pairs() knows by then, unless a probe says that they do; Error{Cancelled} if `cancellation` asks for it.
  /// Nothing was committed then; the transaction of `results` is the caller's to abort.
  std::vector<RankReport> run(const ClusterStatement& statement, const Cancellation& cancellation,
                              const OwnPart& own_part);

  /// The contents of sharded tensors at the workers; what the sessions' ShardedContents get.
  std::shared_ptr<ShardAccess> shards();

  /// All that the worker has. Errors as of ShardAccess.
  std::vector<ContentId> stored_contents(DataId worker);
  /// The database has another identity from now on, and had these before: workers that are up serve that one.
  /// Error{Value} if one belongs to none of them, Error{WorkerLost}.
  void claim(std::int64_t database, const std::vector<std::int64_t>& former);
  /// The damaged copies of tiles that statements have met.
  const DamagedCopies& damaged_copies() const;

  /// Asks a worker to finish what runs and leave. Error{UnknownName} if there is none at this address,
  /// Error{WorkerLost} if it cannot be reached.
  void drain(std::string_view address);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace eindb
