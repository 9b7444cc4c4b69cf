#pragma once

#include <memory>
#include <vector>

#include "engine/sql/sql_function.hpp"
#include "server/pg_catalog/pg_catalog.hpp"

namespace eindb {

/// Functions about sessions of other clients: pg_cancel_backend, pg_terminate_backend, and the source of
/// pg_stat_activity. They show and stop the sessions that `client`, read at each call, may see and stop. Without a
/// registry there are none.
std::vector<SqlFunction> pg_session_functions(const std::shared_ptr<const ClientIdentity>& client);

}  // namespace eindb
