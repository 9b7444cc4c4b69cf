#include "server/monitoring/metrics_text.hpp"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "common/check.hpp"

namespace eindb {
namespace {

// The shortest text that reads back as the same number.
std::string number(double value) { return nlohmann::json(value).dump(); }
std::string number(std::int64_t value) { return std::to_string(value); }

// Writes families of samples: # HELP, # TYPE, and a line for each sample. Names and label values are constants of the
// server, so nothing needs escaping.
class Exposition {
 public:
  Exposition& family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_.append("# HELP ").append(name).append(" ").append(help).append("\n");
    text_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
    return *this;
  }
  template <class T>
  Exposition& sample(std::string_view labels, T value, std::string_view suffix = {}) {
    CHECK(!name_.empty(), "a sample is one of a family");
    text_.append(name_).append(suffix).append(labels).append(" ").append(number(value)).append("\n");
    return *this;
  }
  template <class T>
  void single(std::string_view name, std::string_view type, std::string_view help, T value) {
    family(name, type, help).sample({}, value);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::string_view name_;
};

void add_connections(Exposition& out, const Metrics& metrics, const ServerGauges& gauges) {
  out.single("eindb_connections_open", "gauge", "Connections of clients, those that log in included.",
             gauges.connections_open);
  out.single("eindb_connections_active", "gauge", "Connections on which a statement runs.", gauges.connections_active);
  out.single("eindb_connections_accepted_total", "counter", "Connections that were accepted.",
             metrics.connections_accepted.value());
  out.single("eindb_logins_refused_total", "counter", "Logins that were refused, wrong passwords above all.",
             metrics.logins_refused.value());
  out.single("eindb_cancel_requests_total", "counter", "Requests to cancel a statement, with whatever key.",
             metrics.cancel_requests.value());
  out.single("eindb_received_bytes_total", "counter", "Bytes received from clients.", metrics.bytes_received.value());
  out.single("eindb_sent_bytes_total", "counter", "Bytes sent to clients.", metrics.bytes_sent.value());
}

void add_statements(Exposition& out, const Metrics& metrics) {
  out.family("eindb_statements_total", "counter", "Statements that ended, by kind and outcome.");
  for (std::size_t kind = 0; kind < kStatementKindNames.size(); ++kind)
    for (std::size_t outcome = 0; outcome < kStatementOutcomeNames.size(); ++outcome)
      out.sample("{kind=\"" + std::string(kStatementKindNames[kind]) + "\",outcome=\"" +
                     std::string(kStatementOutcomeNames[outcome]) + "\"}",
                 metrics.statements[kind][outcome].value());
  out.single("eindb_rows_sent_total", "counter", "Rows sent to clients.", metrics.rows_sent.value());
  out.family("eindb_errors_total", "counter", "Errors sent to clients, by the class of their SQLSTATE.");
  for (const auto& [sqlstate_class, count] : metrics.errors.entries())
    out.sample("{class=\"" + sqlstate_class + "\"}", count);
}

// In this format each bucket includes those below it. The last bucket is also the total count, so the two always agree.
void add_durations(Exposition& out, const DurationHistogram& durations) {
  out.family("eindb_statement_seconds", "histogram", "How long statements took, their rows sent.");
  std::int64_t count = 0;
  for (std::size_t n = 0; n < DurationHistogram::kBounds.size(); ++n) {
    count += durations.count(n);
    out.sample("{le=\"" + number(DurationHistogram::kBounds[n]) + "\"}", count, "_bucket");
  }
  count += durations.count(DurationHistogram::kBounds.size());
  out.sample("{le=\"+Inf\"}", count, "_bucket");
  out.sample({}, durations.sum(), "_sum");
  out.sample({}, count, "_count");
}

void add_resources(Exposition& out, const ServerGauges& gauges) {
  out.single("eindb_sessions_idle", "gauge", "Sessions of the pool that no client uses.", gauges.sessions_idle);
  out.single("eindb_memory_used_bytes", "gauge", "Memory of tiles in use, in large blocks.", gauges.memory_used_bytes);
  out.single("eindb_memory_kept_bytes", "gauge", "Memory of tiles that is kept for the next statement.",
             gauges.memory_kept_bytes);
  out.single("eindb_memory_limit_bytes", "gauge", "The setting memory_limit of a new session: for one statement.",
             gauges.memory_limit_bytes);
  out.single("eindb_database_bytes", "gauge", "The database's file and its write-ahead log.", gauges.database_bytes);
  out.single("eindb_start_time_seconds", "gauge", "When the server started, in seconds since 1970.",
             gauges.start_seconds);
  out.single("eindb_uptime_seconds", "gauge", "How long the server has been there.", gauges.uptime_seconds);
  out.family("eindb_build_info", "gauge", "What was built: always 1.")
      .sample("{version=\"" EINDB_VERSION "\"}", std::int64_t{1});
}

void add_workers(Exposition& out, const WorkerCounts& workers) {
  out.family("eindb_workers", "gauge", "Workers of the database's cluster, by state.");
  for (const auto& [state, count] : workers.by_state) out.sample("{state=\"" + std::string(state) + "\"}", count);
  out.single("eindb_worker_pairs_broken", "gauge", "Pairs of the cluster's nodes between which no data goes.",
             workers.broken_pairs);
}

std::string worker_label(const WorkerFigures& worker) { return "{worker=\"" + worker.address + "\"}"; }

template <class Value>
void add_by_worker(Exposition& out, const ClusterFigures& cluster, std::string_view name, std::string_view help,
                   Value value) {
  out.family(name, "gauge", help);
  for (const auto& worker : cluster.workers) out.sample(worker_label(worker), std::int64_t{value(worker)});
}

void add_cluster(Exposition& out, const ClusterFigures& cluster) {
  add_by_worker(out, cluster, "eindb_worker_up", "Whether the worker runs statements.",
                [](const WorkerFigures& worker) { return worker.is_up ? 1 : 0; });
  add_by_worker(out, cluster, "eindb_worker_full", "Whether its disk has no room for tiles.",
                [](const WorkerFigures& worker) { return worker.is_full ? 1 : 0; });
  add_by_worker(out, cluster, "eindb_worker_stored_bytes", "Tiles that it stores.",
                [](const WorkerFigures& worker) { return worker.bytes_stored; });
  add_by_worker(out, cluster, "eindb_worker_free_bytes", "Tiles that it has room for.",
                [](const WorkerFigures& worker) { return worker.bytes_free; });
  add_by_worker(out, cluster, "eindb_worker_tiles_to_move", "Its tiles that are to be at other workers.",
                [](const WorkerFigures& worker) { return worker.tiles_to_move; });
  out.single("eindb_tiles_moved_total", "counter", "Tiles that were copied or moved to other workers.",
             cluster.tiles_moved);
  out.single("eindb_moved_bytes_total", "counter", "Bytes that these copies had.", cluster.bytes_moved);
  out.single("eindb_copies_damaged_total", "counter", "Times that a copy of a tile was found damaged or missing.",
             cluster.copies_damaged);
  out.single("eindb_copies_repaired_total", "counter", "Such copies that were written anew from another.",
             cluster.copies_repaired);
  out.single("eindb_standbys_behind", "gauge", "Standbys whose copy of the coordinator's file lacks something.",
             cluster.standbys_behind);
}

}  // namespace

std::string metrics_text(const NodeGauges& gauges) {
  Exposition out;
  out.single("eindb_node_draining", "gauge", "Whether it takes no statements any more.",
             std::int64_t{gauges.is_draining ? 1 : 0});
  out.single("eindb_node_full", "gauge", "Whether its disk has no room for tiles.",
             std::int64_t{gauges.is_full ? 1 : 0});
  out.single("eindb_node_statements", "gauge", "Statements that run.", gauges.statements);
  out.single("eindb_node_memory_used_bytes", "gauge", "Memory that they use.", gauges.memory_used_bytes);
  out.single("eindb_node_memory_limit_bytes", "gauge", "Memory that they may use.", gauges.memory_limit_bytes);
  out.single("eindb_node_tiles", "gauge", "Tiles that are stored.", gauges.tiles_stored);
  out.single("eindb_node_stored_bytes", "gauge", "Their size.", gauges.bytes_stored);
  out.single("eindb_node_free_bytes", "gauge", "Tiles that there is room for.", gauges.bytes_free);
  out.single("eindb_node_sent_bytes_total", "counter", "Bytes sent by statements.", gauges.bytes_sent);
  out.single("eindb_node_received_bytes_total", "counter", "Bytes received by statements.", gauges.bytes_received);
  out.single("eindb_uptime_seconds", "gauge", "How long the worker has been there.", gauges.uptime_seconds);
  out.family("eindb_build_info", "gauge", "What was built: always 1.")
      .sample("{version=\"" EINDB_VERSION "\"}", std::int64_t{1});
  return out.take();
}

std::string metrics_text(const Metrics& metrics, const ServerGauges& gauges) {
  Exposition out;
  add_connections(out, metrics, gauges);
  add_statements(out, metrics);
  add_durations(out, metrics.statement_seconds);
  add_resources(out, gauges);
  if (gauges.workers) add_workers(out, *gauges.workers);
  if (gauges.cluster) add_cluster(out, *gauges.cluster);
  return out.take();
}

}  // namespace eindb
