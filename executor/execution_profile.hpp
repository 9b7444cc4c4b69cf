#pragma once

#include <cstdint>
#include <vector>

namespace eindb {

/// The measurements of one physical node.
struct NodeProfile {
  /// Of the threads that worked on its tasks, on average: nodes overlap, and where all threads are busy the seconds of
  /// all nodes add up to those of the execution. Reading stored tiles counts where they are first needed.
  double seconds = 0;
  std::int64_t kernel_calls = 0;   ///< made
  std::int64_t skipped_calls = 0;  ///< not made, for tiles of zeros
  std::int64_t tiles_in = 0;       ///< tiles handed to kernels or copied from
  std::int64_t tiles_out = 0;      ///< tiles of the result
  std::int64_t bytes = 0;          ///< of the result's tiles
  /// Elements brought to where they are needed, as the cost model `transfers` counts them: for a join those of the
  /// tiles handed to every kernel call; for a group-by those of the partial result that each call but a group's first
  /// adds to; for a repartition those of the tiles it makes, tiles of zeros apart.
  std::int64_t elements = 0;
};

/// The measurements of an execution, node by node in the order of the plan.
struct ExecutionProfile {
  std::vector<NodeProfile> nodes;
  double seconds = 0;
  std::int64_t peak_bytes = 0;       ///< of tiles, and for kernels
  std::int64_t workspace_bytes = 0;  ///< the part of it that was for kernels, at most
};

}  // namespace eindb
