#pragma once

#include <memory>

#include "engine/results/row_loader.hpp"
#include "engine/session/session_state.hpp"

namespace eindb {

/// Begins to take rows. Error{UnknownName} if the table or a column does not exist, Error{Busy} if another connection
/// writes.
std::unique_ptr<RowLoader> load_rows(const LoadTarget& target, SessionState& session);

}  // namespace eindb
