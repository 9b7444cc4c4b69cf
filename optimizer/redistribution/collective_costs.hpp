#pragma once

#include <cstdint>

namespace eindb {

/// The cost of a collective, in units of the time in which a rank receives one element. The defaults are the paper's
/// model, which counts only the elements of the larger block. The paper names latency as the reason where that model
/// fails (array redistribution, section 8, on problems P1 to P3). If ranks share a machine's memory, copies within a
/// rank take as long as elements from another. The costs of an exchange are measured
/// (optimizer/redistribution/README.md has figures) and passed to the planner.
struct CollectiveCosts {
  double per_collective = 0;      ///< for each collective that sends anything
  double per_peer = 0;            ///< for each other member of a rank's group
  double per_kept_element = 1;    ///< for a rank's own part of its new block; elements from others cost 1
  double per_packed_element = 0;  ///< copied before sending, after receiving, or cut out

  double latency(std::int64_t members) const { return per_collective + per_peer * static_cast<double>(members - 1); }
};

}  // namespace eindb
