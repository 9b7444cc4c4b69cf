#pragma once

#include <vector>

#include "executor/exchange.hpp"
#include "optimizer/redistribution/exchange_choice.hpp"
#include "tests/optimizer/random_redistribution.hpp"

namespace eindb::bench {

/// The same redistribution as a step of three statements, one for each value of SET redistribution.
struct ExchangeRound {
  double pieces = 0;       ///< seconds of the step at the slowest rank: the median of some runs
  double collectives = 0;  ///< likewise; those of pieces where no collectives can be run
  bool chose_collectives = false;
  bool has_choice = false;  ///< whether there is a sequence of collectives
  double predicted_pieces = 0;
  double predicted_collectives = 0;

  double chosen() const { return chose_collectives ? collectives : pieces; }
  double better() const { return pieces < collectives ? pieces : collectives; }
};

/// Executes each problem as a step of a distributed plan (executor/executor), of FLOAT32 in the tiles that a plan for
/// one thread per rank would have, over the ranks of any exchange; every rank calls it with the same arguments.
std::vector<ExchangeRound> run_exchanges(const std::vector<testing::RedistributionProblem>& problems,
                                         const TransportCosts& costs, Exchange& exchange);

/// Draws problems over {x:2, y:2, z:2} in which something moves, runs them, and prints at rank 0, for tensors of 64 KB,
/// 1 MB and 16 MB: the geometric means of the time of what `auto` takes over that of the better way, of pieces and of
/// collectives over it, and how often `auto` took the better. All eight ranks call it.
void print_exchange_contest(std::size_t problems, Exchange& exchange);

}  // namespace eindb::bench
