#pragma once

#include <string>

#include "cluster/take_over.hpp"

namespace eindb {

/// Makes a database of the copy of a coordinator's file that the worker with this data directory keeps as a standby
/// (StandbyStream): a copy of the copy, at `database`, takes over. If it throws, there is no file at `database`:
/// Error{UnknownName} without a copy, Error{Value} for copies of several databases or a file that is there already,
/// Error{Busy} while the copy is written, and the errors of take_over(), which refuses an older state.
TakeOver promote(Cluster& cluster, const std::string& directory, const std::string& database);

}  // namespace eindb
