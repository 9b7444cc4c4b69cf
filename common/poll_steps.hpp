#pragma once

#include <cstddef>

#include "common/cancellation.hpp"

namespace eindb {

/// poll_cancellation() for what works through a statement of whatever size in steps of some nanoseconds: `steps` more
/// have been done. Looks each time that so many have come together that the look costs nothing beside them.
inline void poll_cancellation_after(std::size_t steps) {
  constexpr std::size_t kStepsPerLook = 20'000;
  static constinit thread_local std::size_t done = 0;
  done += steps;
  if (done < kStepsPerLook) return;
  done = 0;
  poll_cancellation();
}

}  // namespace eindb
