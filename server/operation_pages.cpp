#include "server/operation_pages.hpp"

#include <algorithm>
#include <filesystem>

#include "common/check.hpp"
#include "common/error.hpp"
#include "engine/cluster_figures.hpp"
#include "engine/memory_use.hpp"
#include "engine/worker_counts.hpp"
#include "server/monitoring/metrics_text.hpp"

namespace eindb {
namespace {

std::int64_t database_bytes(const std::string& database) {
  std::int64_t bytes = 0;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code missing;
    const auto size = std::filesystem::file_size(database + suffix, missing);
    if (!missing) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

}  // namespace

OperationPages::Health OperationPages::health() {
  if (sources_.monitor.stopping) return {false, "shutting down"};
  try {
    ask_database();
  } catch (const Error&) {
    session_.reset();  // the next check opens the database again
    return {false, "the database does not answer"};
  }
  return {};
}

// Reads a page of the file, to verify that the database answers.
void OperationPages::ask_database() {
  if (session_ == nullptr) session_ = std::make_unique<Session>(sources_.database, SessionOptions{.read_only = true});
  auto result = session_->execute("SELECT COUNT(*) FROM sqlite_schema");
  CHECK(result.rows != nullptr, "a SELECT gives rows");
  Row row;
  while (result.rows->next(row)) {
  }
}

std::string OperationPages::metrics() const {
  const auto clients = sources_.monitor.clients.list();
  const auto active = std::count_if(clients.begin(), clients.end(), [](const ClientSnapshot& client) {
    return client.activity == ClientActivity::Active;
  });
  const auto memory = memory_use();
  const ServerGauges gauges{
      .connections_open = static_cast<std::int64_t>(clients.size()),
      .connections_active = active,
      .sessions_idle = static_cast<std::int64_t>(sources_.read_write.idle() + sources_.read_only.idle()),
      .memory_used_bytes = memory.used_bytes,
      .memory_kept_bytes = memory.kept_bytes,
      .memory_limit_bytes = sources_.read_write.default_settings().memory_limit(),
      .database_bytes = database_bytes(sources_.database),
      .start_seconds = std::chrono::duration<double>(start_.time_since_epoch()).count(),
      .uptime_seconds = uptime_.seconds(),
      .workers = sources_.cluster == nullptr ? std::nullopt : std::optional(worker_counts(*sources_.cluster)),
      .cluster = sources_.cluster == nullptr ? std::nullopt : std::optional(figures_of(*sources_.cluster))};
  return metrics_text(sources_.monitor.metrics, gauges);
}

}  // namespace eindb
