#pragma once

#include <cstddef>

namespace eindb {

/// Bytes of the caches that one core has to itself, or its share of them, as the system tells; common ones if it does
/// not. Asked once.
struct CacheSizes {
  std::size_t first;
  std::size_t second;
  std::size_t third;
};
const CacheSizes& cache_sizes();

}  // namespace eindb
