#pragma once

#include <cstddef>

#include "common/cancellation.hpp"

namespace eindb {

/// Counts `steps` of some nanoseconds, and calls poll_cancellation() each time enough have accumulated for its cost not
/// to matter. For work through statements of any size.
inline void poll_cancellation_after(std::size_t steps) {
  constexpr std::size_t kStepsPerLook = 20'000;
  static constinit thread_local std::size_t done = 0;
  done += steps;
  if (done < kStepsPerLook) return;
  done = 0;
  poll_cancellation();
}

}  // namespace eindb
