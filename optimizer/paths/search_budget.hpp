#pragma once

#include <algorithm>
#include <cstdint>

namespace eindb {

/// The work that a search for a path may do. It is counted, not timed, so that the same problem gets the same path on
/// every machine and under any load.
struct SearchBudget {
  std::uint64_t units = 0;  ///< labels looked at, or work that takes as long

  /// The work that one core does in about that time; slower machines take longer and find the same path.
  static SearchBudget of_seconds(double seconds) {
    constexpr double kUnitsPerSecond = 1.5e8;
    return {static_cast<std::uint64_t>(std::clamp(seconds * kUnitsPerSecond, 0.0, 1e18))};
  }
};

}  // namespace eindb
