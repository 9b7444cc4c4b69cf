#pragma once

#include <eindb/eindb.hpp>
#include <memory>

#include "api/query_result.hpp"
#include "engine/session/prepared_statement.hpp"

namespace eindb {

Statement statement(SharedSession session, std::shared_ptr<const PreparedStatement> prepared);

}  // namespace eindb
