#pragma once

#include <cstddef>

namespace eindb {

/// The sizes in bytes of the caches that one core has to itself, or of its share of them, as reported by the system;
/// common sizes if it reports none. Queried once.
struct CacheSizes {
  std::size_t first;
  std::size_t second;
  std::size_t third;
};
const CacheSizes& cache_sizes();

}  // namespace eindb
