#include "cluster/database_cluster.hpp"

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "cluster/shard_caretaker.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "storage/files/file_identity.hpp"
#include "storage/shards/shard_log.hpp"
#include "storage/shards/sharded_contents.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"

namespace eindb {
namespace {

// Deciders use connections of their own, since the sessions' connections have transactions. A database in memory has no
// second connection, and none of its transactions outlives the process.
bool can_decide(const DatabaseFile& file) { return !file.is_in_memory() && !file.is_read_only(); }

ShardDecider decider_of(const DatabaseFile& file) {
  return [path = file.path()](ShardTransaction transaction) {
    DatabaseFile own(path);
    return ShardLog(own.connection()).decision(transaction);
  };
}

ShardSettler settler_of(const DatabaseFile& file) {
  return [path = file.path()](ShardAccess& shards) {
    DatabaseFile own(path);
    own.use_shards({std::shared_ptr<void>(), &shards});  // the caller's
    auto* const contents = ShardedContents::of(own.connection());
    CHECK(contents != nullptr, "a database that uses shards has contents at workers");
    return !contents->is_unsettled();
  };
}

// Null for a database that has no second connection, or that may not be written.
ShardKeeper keeper_of(Cluster& cluster, const DatabaseFile& file) {
  if (!can_decide(file) || cluster.coordinator_computes() || cluster.move_options().bytes_per_second == 0)
    return nullptr;
  auto keeper = std::make_shared<ShardCaretaker>(file.path(), cluster.move_options(), cluster.move_progress(),
                                                 cluster.damaged_copies(), cluster.log());
  return [keeper = std::move(keeper)](ShardAccess& shards, const std::vector<WorkerStatus>& workers,
                                      std::chrono::milliseconds idle) { return keeper->step(shards, workers, idle); };
}

ShardHistory history_of(const DatabaseFile& file) {
  const auto access = file.is_read_only() ? DatabaseFile::Access::ReadOnly : DatabaseFile::Access::ReadWrite;
  return [path = file.path(), access](const ShardEpoch& epoch) {
    DatabaseFile own(path, access);
    return ShardLog(own.connection()).knows(epoch);
  };
}

// Refuses a copy of the database's file. It refers to tiles that the original may remove at any time, and the original
// would remove tiles that the copy adds. A copy without such references becomes a database of its own.
void require_no_copy(DatabaseFile& file, ShardLog& log) {
  const auto own = file_identity_of(file.path());
  const auto written = log.file_identity();
  if (is_same_file(own, written)) return;
  if (!written.empty() && log.has_workers())
    throw Error(
        ErrorKind::Conflict,
        file.path() +
            " is a copy of the database that the workers have the tiles of, or was moved to another "
            "file system",
        std::nullopt,
        "use the file that it was copied from; or, if that is not used any more, take its place: eindb take-over " +
            file.path() + " --workers ...");
  if (file.is_read_only()) return;
  SqliteTransaction transaction(file.connection());
  if (!written.empty()) log.renew_identity(ShardLog::Former::Forgotten);
  log.write_file_identity(own);
  transaction.commit();
}

}  // namespace

void begin_cluster(Cluster& cluster, DatabaseFile& file) {
  ShardLog log(file.connection());
  if (!log.exists()) return cluster.begin({});
  // Workers of MPI keep their files beside the database's file, so they are copied with it.
  if (!file.is_in_memory() && !cluster.coordinator_computes()) require_no_copy(file, log);
  ClusterDatabase database{.identity = log.database_identity(), .former = log.former_identities()};
  if (!file.is_in_memory()) database.history = history_of(file);
  if (can_decide(file)) {
    database.path = file.path();
    database.decider = decider_of(file);
    database.settler = settler_of(file);
    database.keeper = keeper_of(cluster, file);
  }
  database.transient = file.is_in_memory();
  for (const auto& [number, worker] : log.workers()) database.known.push_back(worker);
  cluster.begin(std::move(database));
}

}  // namespace eindb
