#pragma once

#include <memory>
#include <vector>

#include "engine/sql/sql_function.hpp"
#include "server/pg_catalog/pg_catalog.hpp"

namespace eindb {

/// Functions about the sessions of other clients: pg_cancel_backend, pg_terminate_backend, and what pg_stat_activity is
/// made of. They see and stop what `client` may, as it is when they are called; without a registry there is nobody.
std::vector<SqlFunction> pg_session_functions(const std::shared_ptr<const ClientIdentity>& client);

}  // namespace eindb
