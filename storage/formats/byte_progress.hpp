#pragma once

#include <cstdint>
#include <functional>

namespace eindb {

/// Receives the progress of a pass over a file, at least once per few MiB, in bytes. May throw to stop it.
using ByteProgress = std::function<void(std::int64_t done, std::int64_t total)>;

}  // namespace eindb
