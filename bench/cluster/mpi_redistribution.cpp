// mpirun -n 8 build/bench/cluster/mpi_redistribution [MEGABYTES [PROBLEMS]]: random redistributions over {x:2, y:2,
// z:2} by MPI, compared with "allgather everything, then dynslice". Defaults: 64 megabytes per tensor, 40 problems.

#include "bench/cluster/mpi_ranks.hpp"
#include "bench/cluster/redistribution_figures.hpp"

int main(int argc, char** argv) {
  const auto contest = eindb::bench::RedistributionContest::of(argc, argv);
  eindb::bench::MpiRanks ranks;
  ranks.run([&](eindb::Exchange& exchange) { eindb::bench::print_redistribution_figures(contest, exchange); });
  return 0;
}
