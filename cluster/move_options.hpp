#pragma once

#include <chrono>
#include <cstdint>

namespace eindb {

/// How tiles move between workers in the background.
struct MoveOptions {
  std::int64_t bytes_per_second = std::int64_t{64} << 20U;           ///< of tiles that move; 0: none do
  std::chrono::milliseconds missed_after = std::chrono::minutes(5);  ///< a worker that is away for so long is replaced
  /// Loads of workers that differ from the mean by fewer bytes are not evened out.
  std::int64_t least_imbalance = std::int64_t{64} << 20U;
};

}  // namespace eindb
