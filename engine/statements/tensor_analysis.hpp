#pragma once

#include <optional>

#include "catalog/catalog.hpp"
#include "engine/session/session_state.hpp"

namespace eindb {

/// Replaces the statistics of a stored tensor by those of its cells, which are read in passes, as many as memory needs.
/// Inside the caller's SqliteTransaction. Reports progress; Error{Cancelled}.
void analyze_tensor(const TensorInfo& tensor, SessionState& session);

/// The same for a tensor of few cells of which the statement has written half or more: plans need their statistics, and
/// to read the cells takes a part of the time that it took to write them. `written`: how many, all without it. Leaves
/// tensors at workers, and unwritten ones, as they are.
void analyze_written(const TensorInfo& tensor, SessionState& session, std::optional<double> written = std::nullopt);

}  // namespace eindb
