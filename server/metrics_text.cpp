#include "server/metrics_text.hpp"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace eindb {
namespace {

// The shortest text that is the same number again.
std::string number(double value) { return nlohmann::json(value).dump(); }
std::string number(std::int64_t value) { return std::to_string(value); }

// Families of samples, one after the other: # HELP, # TYPE, and a line for each sample. Names and values of labels are
// the server's own words, so that nothing needs escaping.
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

// Buckets of the format hold those below them, too; the last one is the count, so that the two always agree.
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

}  // namespace

std::string metrics_text(const Metrics& metrics, const ServerGauges& gauges) {
  Exposition out;
  add_connections(out, metrics, gauges);
  add_statements(out, metrics);
  add_durations(out, metrics.statement_seconds);
  add_resources(out, gauges);
  return out.take();
}

}  // namespace eindb
