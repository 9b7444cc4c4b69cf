#pragma once

#include <cstdint>

namespace eindb {

/// What tiles take of memory in the whole process, whichever session they are of: in large blocks.
struct MemoryUse {
  std::int64_t used_bytes = 0;
  std::int64_t kept_bytes = 0;  ///< given back, and kept for the next statement
};

/// Any thread.
MemoryUse memory_use();

}  // namespace eindb
