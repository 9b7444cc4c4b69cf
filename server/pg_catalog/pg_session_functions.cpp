#include "server/pg_catalog/pg_session_functions.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "engine/sql_functions/pg_values.hpp"
#include "engine/sql_functions/timestamp.hpp"
#include "server/monitoring/client_registry.hpp"
#include "server/monitoring/session_list.hpp"

namespace eindb {
namespace {

using Values = std::span<const SqliteValue>;

// NULL if `session` is not a session's number.
SqliteValue stop(const ClientIdentity& client, const SqliteValue& session, ClientRegistry::What what) {
  const auto* number = std::get_if<std::int64_t>(&session);
  if (number == nullptr) return {};
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  if (client.registry == nullptr || *number < 0 || *number > kLargest) return std::int64_t{0};
  const auto outcome = client.registry->stop(client.process_id, static_cast<std::int32_t>(*number), what);
  if (outcome == ClientRegistry::StopOutcome::Forbidden)
    throw Error(ErrorKind::Permission, "session " + std::to_string(*number) +
                                           " is another user's, and may be stopped by users who may write alone");
  return std::int64_t{outcome == ClientRegistry::StopOutcome::Asked ? 1 : 0};
}

std::string cursors_as_json(const ClientIdentity& client) {
  auto cursors = nlohmann::json::array();
  for (const auto& cursor : client.cursors)
    cursors.push_back({{"name", cursor.name},
                       {"statement", cursor.statement},
                       {"is_holdable", cursor.holds ? 1 : 0},
                       {"is_binary", cursor.binary ? 1 : 0},
                       {"is_scrollable", cursor.scrolls ? 1 : 0}});
  return cursors.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string statements_as_json(const ClientIdentity& client) {
  auto statements = nlohmann::json::array();
  for (const auto& statement : client.statements) {
    const auto text = statement.text.lock();
    if (text == nullptr) continue;
    auto types = nlohmann::json::array();
    for (const auto type : statement.parameter_types) types.push_back(type);
    statements.push_back({{"name", statement.name},
                          {"statement", *text},
                          {"prepare_time", timestamp_text(statement.made)},
                          {"parameter_types", types.dump()}});
  }
  return statements.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The change is made by the server when the statement ends.
SqliteValue set_config(const ClientIdentity& client, Values values) {
  if (is_null(values[0])) throw CodedError("22004", ErrorKind::NullValue, "SET requires parameter name");
  ConfigChange change{.name = text_of(values[0]), .value = {}, .local = integer_of(values[2]) != 0};
  if (!is_null(values[1])) change.value = text_of(values[1]);
  client.changes->push_back(change);
  return change.value ? SqliteValue(*change.value) : SqliteValue();
}

// Sleeps in short parts, since the statement may be cancelled meanwhile.
SqliteValue sleep(Values values) {
  if (is_null(values[0])) return {};
  constexpr std::chrono::milliseconds kPart(10);
  const auto* whole = std::get_if<std::int64_t>(&values[0]);
  const auto* real = std::get_if<double>(&values[0]);
  const double seconds = whole != nullptr ? static_cast<double>(*whole) : real != nullptr ? *real : 0;
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    poll_cancellation();
    const auto left = std::chrono::duration<double>(seconds) - (std::chrono::steady_clock::now() - begin);
    if (!(left.count() > 0)) return std::string();
    std::this_thread::sleep_for(std::min<std::chrono::duration<double>>(left, kPart));
  }
}

// A value of an object from eindb_sessions, eindb_cursors or eindb_statements. Views cannot call json_extract in
// SQLite 3.40.
SqliteValue session_field(Values values) {
  DCHECK(values.size() == 2, "a field is that of a session, by its name");
  const auto* session = std::get_if<std::string>(&values[0]);
  const auto* name = std::get_if<std::string>(&values[1]);
  if (session == nullptr || name == nullptr) return {};
  const auto object = nlohmann::json::parse(*session, nullptr, false);
  if (!object.is_object()) return {};
  const auto field = object.find(*name);
  if (field == object.end() || field->is_null()) return {};
  return field->is_string() ? SqliteValue(field->get<std::string>()) : SqliteValue(field->get<std::int64_t>());
}

}  // namespace

std::vector<SqlFunction> pg_session_functions(const std::shared_ptr<const ClientIdentity>& client) {
  std::vector<SqlFunction> functions;
  const auto add = [&](const char* name, int arguments, SqlFunction::Body body) {
    functions.push_back({.name = name, .arguments = arguments, .body = std::move(body), .deterministic = false});
  };
  add("eindb_sessions", 0, [client](Values) -> SqliteValue {
    return client->registry == nullptr ? "[]" : sessions_as_json(*client->registry, client->process_id);
  });
  add("eindb_cursors", 0, [client](Values) -> SqliteValue { return cursors_as_json(*client); });
  add("eindb_statements", 0, [client](Values) -> SqliteValue { return statements_as_json(*client); });
  add("set_config", 3, [client](Values values) { return set_config(*client, values); });
  add("pg_sleep", 1, [](Values values) { return sleep(values); });
  functions.push_back({.name = "eindb_session_field", .arguments = 2, .body = &session_field, .deterministic = true});
  add("pg_cancel_backend", 1,
      [client](Values values) { return stop(*client, values[0], ClientRegistry::What::Statement); });
  for (const int arguments : {1, 2})  // the second argument is the time to wait
    add("pg_terminate_backend", arguments,
        [client](Values values) { return stop(*client, values[0], ClientRegistry::What::Connection); });
  return functions;
}

}  // namespace eindb
