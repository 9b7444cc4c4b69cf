#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/results/result.hpp"
#include "server/monitoring/client_registry.hpp"

namespace eindb {

/// The columns of SHOW SESSIONS.
std::vector<Column> session_columns();
/// Its rows, as the client `asking` may see them (ClientRegistry::list_for).
Result list_sessions(const ClientRegistry& clients, std::int32_t asking);

/// The same as a JSON array of objects by the names of pg_stat_activity's columns, for the functions of pg_catalog.
std::string sessions_as_json(const ClientRegistry& clients, std::int32_t asking);

}  // namespace eindb
