#include "server/monitoring/session_list.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/check.hpp"
#include "engine/results/rows.hpp"
#include "engine/sql_functions/timestamp.hpp"

namespace eindb {
namespace {

Cell text_or_null(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

Row row_of(const ClientSnapshot& client, ClientSnapshot::Time now) {
  return {std::int64_t{client.id},
          text_or_null(client.login.user),
          text_or_null(client.login.database),
          client.login.application_name,
          client.address,
          std::string(describe(client.activity)),
          timestamp_text(client.activity_began),
          text_or_null(client.statement),
          std::chrono::duration<double>(now - client.activity_began).count()};
}

nlohmann::json time_or_null(ClientSnapshot::Time time) {
  return time == ClientSnapshot::Time() ? nlohmann::json() : nlohmann::json(timestamp_text(time));
}

// The address and the port in "127.0.0.1:40000" or "[::1]:40000".
std::pair<std::string, nlohmann::json> place_of(const std::string& address) {
  const auto colon = address.rfind(':');
  std::int64_t port = 0;
  const auto* const end = address.data() + address.size();
  if (colon == std::string::npos || std::from_chars(address.data() + colon + 1, end, port).ptr != end)
    return {address, nullptr};
  const bool in_brackets = address.front() == '[' && colon > 1;
  return {in_brackets ? address.substr(1, colon - 2) : address.substr(0, colon), port};
}

nlohmann::json json_of(const ClientSnapshot& client) {
  const auto [address, port] = place_of(client.address);
  return {{"pid", client.id},
          {"datname", client.login.database},
          {"usename", client.login.user},
          {"application_name", client.login.application_name},
          {"client_addr", address},
          {"client_port", port},
          {"backend_start", time_or_null(client.connected)},
          {"query_start", time_or_null(client.statement_began)},
          {"state_change", time_or_null(client.activity_began)},
          {"state", describe(client.activity)},
          {"query", client.statement}};
}

}  // namespace

std::vector<Column> session_columns() {
  return {{"id", ColumnType::Integer},     {"user", ColumnType::Text},
          {"database", ColumnType::Text},  {"application_name", ColumnType::Text},
          {"address", ColumnType::Text},   {"state", ColumnType::Text},
          {"since", ColumnType::Text},     {"statement", ColumnType::Text},
          {"seconds", ColumnType::Float64}};
}

Result list_sessions(const ClientRegistry& clients, std::int32_t asking) {
  const auto now = std::chrono::system_clock::now();
  std::vector<Row> rows;
  for (const auto& client : clients.list_for(asking)) rows.push_back(row_of(client, now));
  auto columns = session_columns();
  DCHECK(std::all_of(rows.begin(), rows.end(), [&](const Row& row) { return row.size() == columns.size(); }),
         "a session has a cell for each column");
  return listed_result(std::move(columns), std::move(rows));
}

std::string sessions_as_json(const ClientRegistry& clients, std::int32_t asking) {
  auto sessions = nlohmann::json::array();
  for (const auto& client : clients.list_for(asking)) sessions.push_back(json_of(client));
  return sessions.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace eindb
