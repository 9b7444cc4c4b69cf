#pragma once

#include <cstdint>

namespace eindb {

/// By which a client asks, on another connection, to stop what it runs.
struct CancelKey {
  std::int32_t process = 0;
  std::int32_t secret = 0;  ///< nobody guesses it: 32 random bits, compared by one instruction
  friend bool operator==(const CancelKey&, const CancelKey&) = default;
};

}  // namespace eindb
