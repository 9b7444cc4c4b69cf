#include "bench/cluster/mpi_ranks.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "common/stopwatch.hpp"

namespace eindb::bench {

namespace {

double greatest(Exchange& exchange, const Exchange::Group& everyone, double mine) {
  std::vector<double> all(everyone.size());
  exchange.all_gather(everyone, std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  return *std::ranges::max_element(all);
}

}  // namespace

MpiRanks::MpiRanks(const MpiTuning& tuning) : world_(load_mpi_world(tuning, EINDB_PLUGIN_FOLDER)) {}

Exchange::Group MpiRanks::everyone() const {
  Exchange::Group group(size());
  std::iota(group.begin(), group.end(), Rank{0});
  return group;
}

void MpiRanks::run(const std::function<void(Exchange& exchange)>& work) { work(*world_->exchange(++statements_)); }

double MpiRanks::seconds(std::size_t rounds, const std::function<void(Exchange& exchange)>& work) {
  double least = std::numeric_limits<double>::infinity();
  run([&](Exchange& exchange) {
    for (std::size_t round = 0; round < rounds; ++round) {
      exchange.barrier(everyone());
      const Stopwatch watch;
      work(exchange);
      least = std::min(least, greatest(exchange, everyone(), watch.seconds()));
    }
  });
  return least;
}

}  // namespace eindb::bench
