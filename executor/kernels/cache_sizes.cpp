#include "executor/kernels/cache_sizes.hpp"

#include <unistd.h>

#include <algorithm>
#include <thread>

namespace eindb {
namespace {

std::size_t told(int name, std::size_t otherwise, std::size_t least, std::size_t most) {
  const auto bytes = sysconf(name);
  return std::clamp(bytes > 0 ? static_cast<std::size_t>(bytes) : otherwise, least, most);
}

}  // namespace

// Virtual machines report the host's whole third-level cache, so its size is bounded.
const CacheSizes& cache_sizes() {
  constexpr std::size_t kKilo = 1024;
  constexpr std::size_t kMega = kKilo * kKilo;
  static const CacheSizes sizes{told(_SC_LEVEL1_DCACHE_SIZE, 32 * kKilo, 16 * kKilo, 128 * kKilo),
                                told(_SC_LEVEL2_CACHE_SIZE, kMega, 256 * kKilo, 4 * kMega),
                                told(_SC_LEVEL3_CACHE_SIZE, 8 * kMega, 4 * kMega, 32 * kMega) /
                                    std::clamp(std::thread::hardware_concurrency(), 1U, 4U)};
  return sizes;
}

}  // namespace eindb
