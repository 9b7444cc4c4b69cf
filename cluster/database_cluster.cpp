#include "cluster/database_cluster.hpp"

#include <memory>

#include "storage/shard_log.hpp"
#include "storage/sharded_contents.hpp"

namespace eindb {
namespace {

// Of a file, on connections of their own: those of sessions have transactions. A database in memory has no other, and
// no transaction of it outlives the process either.
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
    return !own.connection().shards()->is_unsettled();
  };
}

}  // namespace

void begin_cluster(Cluster& cluster, DatabaseFile& file) {
  ShardLog log(file.connection());
  if (!log.exists()) return cluster.begin({});
  ClusterDatabase database{log.database_identity(), {}, {}, {}};
  if (can_decide(file)) {
    database.decider = decider_of(file);
    database.settler = settler_of(file);
  }
  for (const auto& [number, worker] : log.workers()) database.known.push_back(worker);
  cluster.begin(std::move(database));
}

}  // namespace eindb
