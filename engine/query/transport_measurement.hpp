#pragma once

#include "engine/session/session_state.hpp"
#include "plan/transport_costs.hpp"

namespace eindb {

/// Measures the costs of moving relations between the workers of the session's cluster, in pieces and by collectives:
/// relations of 8 KiB to 8 MiB that every worker computes a part of, from rows to columns and from rows to everybody,
/// as steps of plans such as statements have. Other work on the workers and the network meanwhile counts.
///
/// Takes about `seconds`, at least two runs of each exchange. Stores nothing. Uses the largest power of two of the
/// workers that are up. Throws Error{Value} for fewer than two, Error{WorkerLost} if one is lost meanwhile,
/// Error{Cancelled} when the statement is cancelled.
TransportCosts measure_transport(SessionState& session, double seconds);

}  // namespace eindb
