#pragma once

#include <eindb/eindb.hpp>
#include <memory>
#include <string>

#include "engine/session.hpp"

namespace eindb {

/// Keeps the session of a connection alive as long as any object that came from it.
using SharedSession = std::shared_ptr<Session>;

/// `result` belongs to the statement in `text` that begins at `offset`.
QueryResult query_result(SharedSession session, std::string text, std::size_t offset, Result result);

}  // namespace eindb
