#pragma once

#include <cstdint>
#include <vector>

#include "executor/execution_profile.hpp"

namespace eindb {

/// The measurements of one step of a distributed plan on one rank.
struct StepProfile {
  double seconds = 0;
  double seconds_waiting = 0;       ///< waiting for other ranks; part of `seconds`
  std::int64_t bytes_sent = 0;      ///< payloads and headers, as Exchange counts them
  std::int64_t bytes_received = 0;  ///< payloads and headers, as Exchange counts them
  std::int64_t messages_sent = 0;
  std::int64_t messages_received = 0;
  std::int64_t tiles = 0;  ///< tiles of the step's result at this rank, including absent ones
  std::int64_t bytes = 0;  ///< of the tiles that are not absent
  NodeProfile compute;     ///< of a compute step: its join and group-by together
};

/// The measurements of a distributed plan on one rank, step by step.
struct DistributedProfile {
  std::vector<StepProfile> steps;
  double seconds = 0;
  std::int64_t peak_bytes = 0;       ///< of tiles and kernels
  std::int64_t workspace_bytes = 0;  ///< maximum used by kernels; included in peak_bytes
};

}  // namespace eindb
