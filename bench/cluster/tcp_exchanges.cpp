// build/bench/cluster/tcp_exchanges [PROBLEMS]: random redistributions as steps of statements, in pieces, by
// collectives and as `SET redistribution = 'auto'` chooses, by eight processes over TCP. 1000 problems of each size.

#include <cstdlib>

#include "bench/cluster/tcp_ranks.hpp"
#include "bench/exchange_contest.hpp"

int main(int argc, char** argv) {
  constexpr std::size_t kRanks = 8;
  const auto problems = argc > 1 ? static_cast<std::size_t>(std::atoi(argv[1])) : std::size_t{1000};
  const auto work = [&](eindb::Exchange& exchange) { eindb::bench::print_exchange_contest(problems, exchange); };
  return eindb::bench::run_over_tcp(kRanks, work) ? 0 : 1;
}
