#pragma once

#include "catalog/catalog.hpp"
#include "engine/session/session_state.hpp"

namespace eindb {

/// Replaces the statistics of a stored tensor by those of its cells, which are read in passes, as many as memory needs.
/// Inside the caller's SqliteTransaction. Reports progress; Error{Cancelled}.
void analyze_tensor(const TensorInfo& tensor, SessionState& session);

}  // namespace eindb
