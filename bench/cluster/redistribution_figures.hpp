#pragma once

#include <cstddef>

#include "executor/exchange.hpp"

namespace eindb::bench {

struct RedistributionContest {
  double megabytes = 64;      ///< per tensor
  std::size_t problems = 40;  ///< in which something moves

  /// From a program's arguments [MEGABYTES [PROBLEMS]].
  static RedistributionContest of(int argc, char** argv);
};

/// Runs random redistributions over {x:2, y:2, z:2} on eight ranks, which all call it; rank 0 prints a line of JSON:
/// "bytes" and "time" are geometric means of what "allgather everything, then dynslice" takes over what the plan takes,
/// "time_by_costs" the same of the plan by costs that are measured first, "least_time_by_costs" the least of them;
/// "slower" says in how many problems that plan takes more than 1.1 times the fallback's time. "worst" is the problem
/// where the least is. "costs" are in elements.
void print_redistribution_figures(const RedistributionContest& contest, Exchange& exchange);

}  // namespace eindb::bench
