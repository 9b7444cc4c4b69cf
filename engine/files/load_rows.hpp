#pragma once

#include <memory>

#include "engine/results/row_loader.hpp"
#include "engine/session/session_state.hpp"

namespace eindb {

/// Begins to take rows. Error{UnknownName} for a table or column that is not there, Error{Busy} while somebody else
/// writes.
std::unique_ptr<RowLoader> load_rows(const LoadTarget& target, SessionState& session);

}  // namespace eindb
