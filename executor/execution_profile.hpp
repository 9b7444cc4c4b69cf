#pragma once

#include <cstdint>
#include <vector>

namespace eindb {

/// The measurements of one physical node.
struct NodeProfile {
  /// The average time of the threads that worked on its tasks. Nodes overlap; if all threads are busy, the seconds of
  /// all nodes add up to those of the execution. Reading a stored tile counts for the node that needs it first.
  double seconds = 0;
  std::int64_t kernel_calls = 0;   ///< executed calls
  std::int64_t skipped_calls = 0;  ///< calls skipped because of absent tiles
  std::int64_t tiles_in = 0;       ///< number of tiles passed to kernels or copied from
  std::int64_t tiles_out = 0;      ///< number of tiles of the result
  std::int64_t bytes = 0;          ///< of the result's tiles
  /// Elements moved, as the cost model `transfers` counts them. For a join: elements of the tiles passed to every
  /// kernel call. For a group-by: elements of the partial result that each call except a group's first adds to. For a
  /// repartition: elements of the tiles it makes, except absent tiles.
  std::int64_t elements = 0;
};

/// The measurements of an execution, node by node in the order of the plan.
struct ExecutionProfile {
  std::vector<NodeProfile> nodes;
  double seconds = 0;
  std::int64_t peak_bytes = 0;       ///< of tiles and kernels
  std::int64_t workspace_bytes = 0;  ///< maximum used by kernels; included in peak_bytes
};

}  // namespace eindb
