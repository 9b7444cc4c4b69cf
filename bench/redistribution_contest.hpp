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
  double seconds = 0;  ///< until the last rank had its block: the median of seven runs
};

/// One problem, run in three ways.
struct ContestRound {
  RunFigures fallback;  ///< allgather everything, then dynslice
  RunFigures plan;      ///< by elements, within the memory of source and target
  RunFigures quickest;  ///< by elements and latency, with memory for the fallback; may be the fallback itself
};

/// What a collective costs on this exchange beside its elements, in elements of FLOAT32: measured by allgathers of next
/// to nothing and of megabytes among two ranks and among all. Every rank calls it, and gets the same.
CollectiveLatency measured_latency(Exchange& exchange);

/// Runs problems over the mesh of the exchange's ranks; every rank calls it with the same arguments, whatever the
/// exchange: threads of a process, processes over TCP or MPI.
std::vector<ContestRound> run_contest(const std::vector<testing::RedistributionProblem>& problems,
                                      const CollectiveLatency& latency, Exchange& exchange);

}  // namespace eindb::bench
