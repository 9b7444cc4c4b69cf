#pragma once

#include <chrono>

namespace eindb {

/// How often a thread that waits for another node looks whether its statement was cancelled.
inline constexpr std::chrono::milliseconds kCancellationPoll{20};

}  // namespace eindb
