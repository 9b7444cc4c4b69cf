#pragma once

#include <cstddef>

#include "executor/exchange.hpp"

namespace eindb::bench {

struct RedistributionContest {
  double megabytes = 64;      ///< per tensor
  std::size_t problems = 40;  ///< in which something moves

  /// Parses a program's arguments [MEGABYTES [PROBLEMS]].
  static RedistributionContest of(int argc, char** argv);
};

/// Runs random redistributions over {x:2, y:2, z:2} on eight ranks, which all must call it; rank 0 prints a line of
/// JSON. "bytes" and "time" are geometric means of the ratio of "allgather everything, then dynslice" to the plan;
/// "time_by_costs" is the same for the plan by measured costs, and "least_time_by_costs" its minimum. "slower" is the
/// number of problems in which that plan takes more than 1.1 times the fallback's time; "worst" is the problem with the
/// minimum. "costs" are in elements.
void print_redistribution_figures(const RedistributionContest& contest, Exchange& exchange);

}  // namespace eindb::bench
