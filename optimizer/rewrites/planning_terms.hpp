#pragma once

#include <cstdint>

namespace eindb {

/// The workers and the memory limit that a graph is planned for, as far as passes ask.
struct PlanningTerms {
  std::int64_t workers = 1;       ///< that share the statement; 1: it runs in one process
  std::int64_t memory_limit = 0;  ///< bytes, of each process; 0: none
};

}  // namespace eindb
