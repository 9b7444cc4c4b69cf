#pragma once

#include "engine/plans/place_choice.hpp"
#include "engine/session/session_state.hpp"
#include "optimizer/optimizer.hpp"
#include "plan/ein_graph.hpp"
#include "plan/transport_costs.hpp"

namespace eindb {

/// The costs of moving tiles between the ranks of the session's cluster, or of imagined ones over TCP: as `eindb
/// calibrate` measured them, otherwise built-in ones.
TransportCosts transport_costs(const SessionState& session);

/// The costs of running a query in this process or at workers, beside its work. Workers cost an exchange in which each
/// of them takes part: they are told, and the result comes back. This process costs the transfer of the tiles at
/// workers, which are fetched from all workers at the same time; the round trip is the same in both places. Tiles may
/// be in the session's cache, which is not counted.
struct PlaceCosts {
  double fetch = 0;      ///< seconds
  double exchange = 0;   ///< seconds
  double computing = 1;  ///< the ranks that share the work

  /// Where a query of so many seconds of work in this process takes less time. Workers share the work evenly at best.
  PlaceChoice choose(double work) const;
};

PlaceCosts place_costs(const EinGraph& graph, SessionState& session);

/// Fewer seconds than the plan's work takes on any machine with these figures: that of its operations if all were those
/// of large products of matrices.
double least_work(const OptimizedPlan& plan, const MachineFigures& figures);

}  // namespace eindb
