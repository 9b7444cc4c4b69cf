#include "engine/session/session_state.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "common/check.hpp"
#include "engine/session/cell_count.hpp"
#include "engine/sql/aggregates.hpp"
#include "engine/sql_functions/sql_functions.hpp"
#include "engine/sql_functions/timestamp.hpp"

namespace eindb {
namespace {

/// The divisor for the memory that rows may take that are read while the database changes.
constexpr std::int64_t kShareOfOpenRows = 4;

/// Adds a function that gives `moment`, which must outlive the database.
void add_clock(std::string name, const std::chrono::system_clock::time_point& moment, OpenDatabase& database) {
  database.add_function(
      {.name = std::move(name),
       .arguments = 0,
       .body = [&moment](std::span<const SqliteValue>) -> SqliteValue { return timestamp_text(moment); },
       .result = "TIMESTAMPTZ"});
}

}  // namespace

SessionState::SessionState(const std::string& path, const SessionOptions& options)
    : database(path, options), user(options), statement(user) {
  database.connection().watch(&statement.cancellation());
  add_cell_count(database);
  add_aggregates(database.connection());
  for (const auto& function : all_sql_functions()) database.add_function(function);
  for (const auto* name : {"now", "transaction_timestamp"}) add_clock(name, moments.transaction, database);
  add_clock("statement_timestamp", moments.statement, database);
  note_begin();
  if (options.policy != nullptr) {
    database.connection().execute("PRAGMA foreign_keys = ON");  // as clients of PostgreSQL expect
    database.connection().restrict_to_clients();
  }
  database.begin_sharding(options);
}

void SessionState::note_begin() {
  moments.statement = std::chrono::system_clock::now();
  if (!database.connection().in_transaction()) moments.transaction = moments.statement;
}

std::unique_ptr<Admission> SessionState::admit(std::int64_t bytes) {
  CHECK(bytes >= 0, "a statement takes no less than no memory");
  if (user.gate == nullptr) return nullptr;
  const Work work{
      .seconds = std::numeric_limits<double>::infinity(), .bytes = bytes, .urgent = database.file.has_written()};
  auto admission = user.gate->admit(user.permissions.user(), work, statement.cancellation());
  CHECK(admission != nullptr, "a gate gives leave, or says why not");
  return admission;
}

void SessionState::check_right(const TensorInfo& tensor, Right right) const {
  if (!tensor.is_temporary()) user.permissions.check_right(tensor.own_name(), right);
}

void SessionState::limit_database_memory() {
  const auto* policy = user.permissions.policy();
  const auto limit = user.settings.memory_limit();
  database.file.limit_memory(limit, user.settings.threads(), policy == nullptr ? limit : policy->memory_share);
}

void SessionState::keep_open_rows() { open_rows.keep_all(static_cast<std::size_t>(user.memory() / kShareOfOpenRows)); }

// Rows that are open were begun after the last change, so that a rollback of no change leaves them as they are.
void SessionState::keep_open_rows_from_rollback() noexcept {
  if (database.connection().has_written())
    open_rows.keep_what_fits(static_cast<std::size_t>(user.memory() / kShareOfOpenRows));
}

}  // namespace eindb
