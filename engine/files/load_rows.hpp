#pragma once

#include <memory>
#include <vector>

#include "engine/results/row_loader.hpp"
#include "engine/session/session_state.hpp"

namespace eindb {

/// Begins to take rows. Error{UnknownName} if the table or a column does not exist, Error{Busy} if another connection
/// writes.
std::unique_ptr<RowLoader> load_rows(const LoadTarget& target, SessionState& session);

/// The columns of an ordinary table or a view that take values, with their declared types; empty if there is none of
/// this name.
std::vector<Column> columns_of_table(const LoadTarget& target, SqliteConnection& connection);

}  // namespace eindb
