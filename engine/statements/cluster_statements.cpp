#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster.hpp"
#include "common/error.hpp"
#include "engine/results/rows.hpp"
#include "engine/statements/statements.hpp"
#include "storage/shards/shard_log.hpp"
#include "storage/shards/sharded_contents.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"

namespace eindb {
namespace {

double seconds(std::chrono::milliseconds time) { return std::chrono::duration<double>(time).count(); }

// The placement of tiles at the worker: active, draining or drained.
std::string_view placement_of(const WorkerStatus& worker, const std::map<DataId, std::int64_t>& leaving,
                              const Cluster& cluster) {
  const auto found = leaving.find(worker.data);
  if (found == leaving.end()) return "active";
  return cluster.move_progress().is_drained(worker.data, found->second) ? "drained" : "draining";
}

Cell reason_of(const WorkerStatus& worker) {
  auto reason = worker.reason;
  if (const auto stuck = worker.to_move.stuck; stuck > 0)
    reason += (reason.empty() ? "" : "; ") + std::to_string(stuck) + (stuck == 1 ? " tile of it" : " tiles of it") +
              " cannot be copied: no worker that is there has " + (stuck == 1 ? "it" : "them") +
              ", or none that has not takes " + (stuck == 1 ? "it" : "them");
  if (const auto& damaged = worker.damaged; !damaged.empty())
    reason += (reason.empty() ? "" : "; ") + damaged.front() +
              (damaged.size() == 1 ? "" : " and " + std::to_string(damaged.size() - 1) + " more") +
              (damaged.size() == 1 ? " is" : " are") + " damaged, and no other copy is there";
  if (const auto& failure = worker.standby_failure; !failure.empty())
    reason += (reason.empty() ? "" : "; ") + std::string("its copy of the coordinator's file is behind: ") + failure;
  return reason.empty() ? Cell{} : Cell{reason};
}

Cell standby_of(const WorkerStatus& worker) {
  const auto state = name_of(worker.standby);
  return state.empty() ? Cell{} : Cell{std::string(state)};
}

// The last report of a worker; NULL for a worker that has never reported.
Row row_of(const WorkerStatus& worker, std::string_view placement) {
  Row row{worker.address, std::string(name_of(worker.state)), reason_of(worker), seconds(worker.since)};
  if (worker.data == DataId{}) {
    row.resize(row.size() + 15);
    row.push_back(standby_of(worker));
    return row;
  }
  const auto& load = worker.load;
  const Row said{worker.program,
                 static_cast<std::int64_t>(worker.threads),
                 worker.memory_limit,
                 load.memory_used,
                 load.tiles_stored,
                 load.bytes_stored,
                 load.bytes_free,
                 static_cast<std::int64_t>(load.statements),
                 load.bytes_sent,
                 load.bytes_received,
                 seconds(worker.heartbeat_age),
                 std::string(placement),
                 worker.to_move.tiles,
                 worker.to_move.bytes,
                 static_cast<std::int64_t>(worker.damaged.size())};
  row.insert(row.end(), said.begin(), said.end());
  row.push_back(standby_of(worker));
  return row;
}

void require_cluster(const OpenDatabase& database, const std::string& address, SourceSpan span) {
  if (database.cluster == nullptr)
    throw Error(ErrorKind::UnknownName, "this session has no worker " + address, span, "start eindb with --workers");
}

// The worker at the address: of the session's cluster, or one that had tiles before.
ShardWorker worker_at(const ast::AlterWorker& alter, OpenDatabase& database, ShardLog& log) {
  for (const auto& status : database.cluster->workers())
    if (status.address == alter.address && status.data != DataId{}) return {status.data, status.address};
  for (const auto& [number, worker] : log.workers())
    if (worker.address == alter.address) return worker;
  throw Error(ErrorKind::UnknownName, "there is no worker " + alter.address + ", or it has never joined", alter.span,
              "SHOW WORKERS lists them");
}

// Where every worker left, tiles would stay where they are.
void require_others(const ast::AlterWorker& alter, DataId leaving, OpenDatabase& database, ShardLog& log) {
  const auto gone = log.leaving();
  const auto statuses = database.cluster->workers();
  if (std::any_of(statuses.begin(), statuses.end(), [&](const WorkerStatus& status) {
        return status.data != DataId{} && status.data != leaving && !gone.contains(status.data);
      }))
    return;
  throw Error(ErrorKind::Value, "no other worker can take the tiles of " + alter.address, alter.span,
              "add workers to --workers first, or ALTER WORKER ... ACTIVATE one that is being drained");
}

}  // namespace

Result execute_statement(const ast::ShowWorkers&, OpenDatabase& database) {
  std::vector<Row> rows;
  if (database.cluster != nullptr) {
    const auto leaving = ShardLog(database.connection()).leaving();
    for (const auto& worker : database.cluster->workers())
      rows.push_back(row_of(worker, placement_of(worker, leaving, *database.cluster)));
  }
  return listed_result({{"address", ColumnType::Text},          {"state", ColumnType::Text},
                        {"reason", ColumnType::Text},           {"seconds_in_state", ColumnType::Float64},
                        {"version", ColumnType::Text},          {"threads", ColumnType::Integer},
                        {"memory_limit", ColumnType::Integer},  {"memory_used", ColumnType::Integer},
                        {"tiles", ColumnType::Integer},         {"bytes_stored", ColumnType::Integer},
                        {"bytes_free", ColumnType::Integer},    {"statements", ColumnType::Integer},
                        {"bytes_sent", ColumnType::Integer},    {"bytes_received", ColumnType::Integer},
                        {"heartbeat_age", ColumnType::Float64}, {"placement", ColumnType::Text},
                        {"tiles_to_move", ColumnType::Integer}, {"bytes_to_move", ColumnType::Integer},
                        {"tiles_damaged", ColumnType::Integer}, {"standby", ColumnType::Text}},
                       std::move(rows));
}

Result execute_statement(const ast::DrainWorker& drain, OpenDatabase& database, const SessionUser& user) {
  require_cluster(database, drain.address, drain.span);
  user.permissions.check_drains_workers();
  with_place(drain.span, [&] { database.cluster->drain(drain.address); });
  return status_result("DRAIN WORKER");
}

Result execute_statement(const ast::AlterWorker& alter, OpenDatabase& database, const SessionUser& user) {
  require_cluster(database, alter.address, alter.span);
  user.permissions.check_drains_workers();
  SqliteTransaction transaction(database.connection());
  ShardLog log(database.connection());
  const auto worker = worker_at(alter, database, log);
  if (alter.leaves) require_others(alter, worker.data, database, log);
  ShardedContents::of(database.connection())->set_leaving(worker, alter.leaves);
  transaction.commit();
  database.cluster->wake_keeper();
  return status_result("ALTER WORKER");
}

}  // namespace eindb
