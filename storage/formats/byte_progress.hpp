#pragma once

#include <cstdint>
#include <functional>

namespace eindb {

/// Told now and then, at least once per few MiB, how many bytes of a pass over a file are done. May throw to stop it.
using ByteProgress = std::function<void(std::int64_t done, std::int64_t total)>;

}  // namespace eindb
