#pragma once

#include <eindb/eindb.hpp>
#include <memory>
#include <string>

#include "engine/session.hpp"

namespace eindb {

/// The session of a connection lives as long as anything that came from it.
using SharedSession = std::shared_ptr<Session>;

/// `result` is that of the statement in `text` that begins at `offset`.
QueryResult query_result(SharedSession session, std::string text, std::size_t offset, Result result);

}  // namespace eindb
