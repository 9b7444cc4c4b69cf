#include "cluster/cluster.hpp"
#include "common/error.hpp"
#include "engine/results/rows.hpp"
#include "engine/statements/statements.hpp"

namespace eindb {
namespace {

double seconds(std::chrono::milliseconds time) { return std::chrono::duration<double>(time).count(); }

// The last report of a worker; NULL for a worker that has never reported.
Row row_of(const WorkerStatus& worker) {
  Row row{worker.address, std::string(name_of(worker.state)), worker.reason.empty() ? Cell{} : Cell{worker.reason},
          seconds(worker.since)};
  if (worker.data == DataId{}) {
    row.resize(row.size() + 11);
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
                 seconds(worker.heartbeat_age)};
  row.insert(row.end(), said.begin(), said.end());
  return row;
}

}  // namespace

Result execute_statement(const ast::ShowWorkers&, OpenDatabase& database) {
  std::vector<Row> rows;
  if (database.cluster != nullptr)
    for (const auto& worker : database.cluster->workers()) rows.push_back(row_of(worker));
  return listed_result({{"address", ColumnType::Text},
                        {"state", ColumnType::Text},
                        {"reason", ColumnType::Text},
                        {"seconds_in_state", ColumnType::Float64},
                        {"version", ColumnType::Text},
                        {"threads", ColumnType::Integer},
                        {"memory_limit", ColumnType::Integer},
                        {"memory_used", ColumnType::Integer},
                        {"tiles", ColumnType::Integer},
                        {"bytes_stored", ColumnType::Integer},
                        {"bytes_free", ColumnType::Integer},
                        {"statements", ColumnType::Integer},
                        {"bytes_sent", ColumnType::Integer},
                        {"bytes_received", ColumnType::Integer},
                        {"heartbeat_age", ColumnType::Float64}},
                       std::move(rows));
}

Result execute_statement(const ast::DrainWorker& drain, OpenDatabase& database, const SessionUser& user) {
  if (database.cluster == nullptr) {
    throw Error(ErrorKind::UnknownName, "this session has no worker " + drain.address, drain.span,
                "start eindb with --workers");
  }
  user.permissions.check_drains_workers();
  with_place(drain.span, [&] { database.cluster->drain(drain.address); });
  return status_result("DRAIN WORKER");
}

}  // namespace eindb
