#pragma once

#include <algorithm>
#include <cstdint>

namespace eindb {

/// How much work a search for a path may do. Counted, not measured by a clock, so that the same problem gets the same
/// path on every machine and under any load.
struct SearchBudget {
  std::uint64_t units = 0;  ///< labels looked at, or work that takes as long

  /// About what one core does in the time; slower machines take longer and find the same.
  static SearchBudget of_seconds(double seconds) {
    constexpr double kUnitsPerSecond = 1.5e8;
    return {static_cast<std::uint64_t>(std::clamp(seconds * kUnitsPerSecond, 0.0, 1e18))};
  }
};

}  // namespace eindb
