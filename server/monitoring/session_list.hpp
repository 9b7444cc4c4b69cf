#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/results/result.hpp"
#include "server/monitoring/client_registry.hpp"

namespace eindb {

/// The columns of SHOW SESSIONS.
std::vector<Column> session_columns();
/// The rows of SHOW SESSIONS, as the client `asking` may see them (ClientRegistry::list_for).
Result list_sessions(const ClientRegistry& clients, std::int32_t asking);

/// The same list as a JSON array of objects with the column names of pg_stat_activity, for the functions of pg_catalog.
std::string sessions_as_json(const ClientRegistry& clients, std::int32_t asking);

}  // namespace eindb
