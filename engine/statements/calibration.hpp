#pragma once

#include <string>

#include "engine/session/statement_context.hpp"
#include "engine/settings/settings.hpp"
#include "optimizer/partitions/machine_figures.hpp"

namespace eindb {

/// Measures this machine for the cost model `calibrated`, with the operators and kernels that statements run on: each
/// figure is the least of several runs, so that other work on the machine disturbs little.
///
/// Takes about `seconds` (the least, under a second, is one run of each), as many threads as the settings say,
/// about 200 MB of memory, and beside `path` a database of 32 MB while it runs. Reports its progress and
/// stops with Error{Cancelled} when it is cancelled. Error{Io} if there is no place for the database.
MachineFigures calibrate(const Settings& settings, const StatementContext& statement, const std::string& path,
                         double seconds);

}  // namespace eindb
