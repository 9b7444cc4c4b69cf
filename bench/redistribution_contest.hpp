#pragma once

#include <cstdint>
#include <vector>

#include "executor/exchange.hpp"
#include "optimizer/redistribution/redistribution_planner.hpp"
#include "tests/optimizer/random_redistribution.hpp"

namespace eindb::bench {

/// What running a plan once took: the same figures at all ranks.
struct RunFigures {
  double bytes = 0;    ///< that ranks received, all together
  double seconds = 0;  ///< until the last rank had its block: the median of some runs
};

/// One problem, run in three ways.
struct ContestRound {
  RunFigures fallback;  ///< allgather everything, then dynslice
  RunFigures plan;      ///< by elements, within the memory of source and target
  RunFigures quickest;  ///< by measured costs, with memory for the fallback; may be the fallback itself
};

/// What a collective costs on this exchange, whose ranks are on this machine, in elements of FLOAT32: measured by
/// allgathers of little among two ranks and among all, and by gathering and copying megabytes. Every rank
/// calls it, and gets the same.
CollectiveCosts measured_costs(Exchange& exchange);

/// Runs problems over the mesh of the exchange's ranks; every rank calls it with the same arguments, whatever the
/// exchange: threads of a process, processes over TCP or MPI.
std::vector<ContestRound> run_contest(const std::vector<testing::RedistributionProblem>& problems,
                                      const CollectiveCosts& costs, Exchange& exchange);

}  // namespace eindb::bench
