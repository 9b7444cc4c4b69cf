#pragma once

#include <chrono>

namespace eindb {

/// The interval at which a thread that waits for another node checks for cancellation of its statement.
inline constexpr std::chrono::milliseconds kCancellationPoll{20};

}  // namespace eindb
