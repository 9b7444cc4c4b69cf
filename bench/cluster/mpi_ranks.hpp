#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "cluster/mpi_plugin.hpp"

namespace eindb::bench {

/// The ranks of a benchmark started by mpirun: `mpirun -n 8 build/bench/cluster/...`. Constructed once, by the main
/// thread; all ranks make the same calls.
class MpiRanks {
 public:
  explicit MpiRanks(const MpiTuning& tuning = {});

  Rank rank() const { return world_->rank(); }
  std::size_t size() const { return world_->size(); }
  Exchange::Group everyone() const;
  /// Runs `work` as a statement of its own.
  void run(const std::function<void(Exchange& exchange)>& work);
  /// The seconds that `work` takes on the slowest rank, the minimum over `rounds`; all ranks begin together and get the
  /// result.
  double seconds(std::size_t rounds, const std::function<void(Exchange& exchange)>& work);

 private:
  std::unique_ptr<MpiWorld> world_;
  std::uint64_t statements_ = 0;
};

}  // namespace eindb::bench
