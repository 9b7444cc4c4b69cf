#pragma once

#include <cstdint>

namespace eindb {

/// The memory of all tiles in the process, over all sessions. It counts large blocks.
struct MemoryUse {
  std::int64_t used_bytes = 0;
  std::int64_t kept_bytes = 0;  ///< freed, and kept for reuse by the next statement
};

/// Thread-safe.
MemoryUse memory_use();

}  // namespace eindb
