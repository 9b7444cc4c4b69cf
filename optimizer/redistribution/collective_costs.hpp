#pragma once

#include <cstdint>

namespace eindb {

/// What a collective costs, in elements that a rank could receive meanwhile. As it stands: the paper's model, which
/// counts elements of the larger block and nothing else. The paper sees latency where that model fails (array
/// redistribution, section 8, on problems P1 to P3); where ranks share a machine's memory, copies within a rank take as
/// long as elements from another. How long all of it takes on an exchange is measured
/// (optimizer/redistribution/README.md has figures), and told to the planner.
struct CollectiveCosts {
  double per_collective = 0;       ///< each collective that sends anything
  double per_peer = 0;             ///< each other member of a rank's group
  double per_kept_element = 1;     ///< of a rank's own part of its new block; those from others cost 1
  double per_packed_element = 0;   ///< copied before it is sent, after it was received, or cut out
  double per_direct_exchange = 0;  ///< each direct exchange, beside what a collective costs: its streams

  double latency(std::int64_t members) const { return per_collective + per_peer * static_cast<double>(members - 1); }
};

}  // namespace eindb
