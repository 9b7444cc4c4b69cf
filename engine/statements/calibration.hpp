#pragma once

#include <string>

#include "engine/session/session_state.hpp"
#include "optimizer/partitions/machine_figures.hpp"

namespace eindb {

/// Measures this machine for the cost model `calibrated`, with the operators and kernels that statements use. Each
/// figure is the least of several runs, to reduce the effect of other work on the machine. With a cluster the costs of
/// its transport follow (engine/query/transport_measurement); without, those in the file `path` are kept.
///
/// Takes about `seconds` (at least one run of each, under a second), and as long for the transport, the threads of the
/// setting, about 200 MB of memory and, while it runs, a database of 32 MB beside `path`. Reports its progress.
/// Error{Cancelled} when it is cancelled, Error{Io} if there is no space for the database, errors of
/// measure_transport().
MachineFigures calibrate(SessionState& session, const std::string& path, double seconds);

}  // namespace eindb
