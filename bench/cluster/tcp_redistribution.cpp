// build/bench/cluster/tcp_redistribution [MEGABYTES [PROBLEMS]]: random redistributions over {x:2, y:2, z:2} by eight
// processes over TCP, compared with "allgather everything, then dynslice". Defaults: 64 megabytes per tensor, 40
// problems.

#include "bench/cluster/redistribution_figures.hpp"
#include "bench/cluster/tcp_ranks.hpp"

int main(int argc, char** argv) {
  constexpr std::size_t kRanks = 8;
  const auto contest = eindb::bench::RedistributionContest::of(argc, argv);
  const auto work = [&](eindb::Exchange& exchange) { eindb::bench::print_redistribution_figures(contest, exchange); };
  return eindb::bench::run_over_tcp(kRanks, work) ? 0 : 1;
}
