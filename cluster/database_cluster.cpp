#include "cluster/database_cluster.hpp"

#include "storage/shard_log.hpp"

namespace eindb {
namespace {

// Of a file, on a connection of its own: those of sessions have transactions. A database in memory has no other, and no
// transaction of it outlives the process either.
ShardDecider decider_of(const DatabaseFile& file) {
  if (file.is_in_memory() || file.is_read_only()) return {};
  return [path = file.path()](ShardTransaction transaction) {
    DatabaseFile own(path);
    return ShardLog(own.connection()).decision(transaction);
  };
}

}  // namespace

void begin_cluster(Cluster& cluster, DatabaseFile& file) {
  ShardLog log(file.connection());
  if (!log.exists()) return cluster.begin({});
  ClusterDatabase database{log.database_identity(), {}, decider_of(file)};
  for (const auto& [number, worker] : log.workers()) database.known.push_back(worker);
  cluster.begin(std::move(database));
}

}  // namespace eindb
