#pragma once

#include <cstdint>
#include <vector>

#include "executor/exchange.hpp"
#include "optimizer/redistribution/redistribution_planner.hpp"
#include "tests/optimizer/random_redistribution.hpp"

namespace eindb::bench {

/// The figures of one run of a plan, equal at all ranks.
struct RunFigures {
  double bytes = 0;    ///< that ranks received, all together
  double seconds = 0;  ///< until the last rank had its block: the median of some runs
};

/// One problem with its three plans.
struct ContestRound {
  RunFigures fallback;  ///< allgather everything, then dynslice
  RunFigures plan;      ///< by elements, within the memory of source and target
  RunFigures quickest;  ///< by measured costs, with memory for the fallback; may be the fallback itself
};

/// The costs of collectives on this exchange, whose ranks are on this machine, in elements of FLOAT32. They are
/// measured by small allgathers between two ranks and between all, and by gathering and copying megabytes. Every rank
/// must call it, and gets the same result.
CollectiveCosts measured_costs(Exchange& exchange);

/// Runs problems over the mesh of the exchange's ranks. Every rank must call it with the same arguments; the exchange
/// may connect threads of a process, or processes over TCP or MPI.
std::vector<ContestRound> run_contest(const std::vector<testing::RedistributionProblem>& problems,
                                      const CollectiveCosts& costs, Exchange& exchange);

}  // namespace eindb::bench
