#pragma once

#include <cstdint>

namespace eindb {

/// What a collective costs beside the elements that it moves (array redistribution, section 8, on problems P1 to P3),
/// in elements that a rank could receive meanwhile. All zero: the paper's model.
struct CollectiveLatency {
  double per_collective = 0;  ///< each collective that sends anything
  double per_peer = 0;        ///< each other member of a rank's group

  double of(std::int64_t members) const { return per_collective + per_peer * static_cast<double>(members - 1); }
};

}  // namespace eindb
