#pragma once

#include <string>

#include "engine/session/statement_context.hpp"
#include "engine/settings/settings.hpp"
#include "optimizer/partitions/machine_figures.hpp"

namespace eindb {

/// Measures this machine for the cost model `calibrated`, with the operators and kernels that statements use. Each
/// figure is the least of several runs, to reduce the effect of other work on the machine.
///
/// Takes about `seconds` (at least one run of each, under a second), the threads of the setting, about 200 MB of memory
/// and, while it runs, a database of 32 MB beside `path`. Reports its progress. Error{Cancelled} when it is cancelled,
/// Error{Io} if there is no space for the database.
MachineFigures calibrate(const Settings& settings, const StatementContext& statement, const std::string& path,
                         double seconds);

}  // namespace eindb
