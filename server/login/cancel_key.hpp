#pragma once

#include <cstdint>

namespace eindb {

/// The key with which a client asks, on another connection, to cancel its statement.
struct CancelKey {
  std::int32_t process = 0;
  std::int32_t secret = 0;  ///< 32 random bits, compared by one instruction, against guessing
  friend bool operator==(const CancelKey&, const CancelKey&) = default;
};

}  // namespace eindb
