#pragma once

#include <cstdint>
#include <vector>

namespace eindb {

/// What one physical node did.
struct NodeProfile {
  double seconds = 0;  ///< wall time; reading stored tiles counts where they are first needed
  std::int64_t kernel_calls = 0;
  std::int64_t tiles_in = 0;   ///< tiles handed to kernels or copied from
  std::int64_t tiles_out = 0;  ///< tiles of the result
  std::int64_t bytes = 0;      ///< of the result's tiles
};

/// What an execution did, node by node in the order of the plan.
struct ExecutionProfile {
  std::vector<NodeProfile> nodes;
  double seconds = 0;
  std::int64_t peak_bytes = 0;
};

}  // namespace eindb
