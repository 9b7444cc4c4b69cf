#include "server/sessions/freed_memory.hpp"

#include <malloc.h>

#include <algorithm>

#include "common/check.hpp"

namespace eindb {
namespace {

using Clock = std::chrono::steady_clock;

/// malloc counts and gives back in some milliseconds.
constexpr auto kBetweenLooks = std::chrono::milliseconds(200);
/// Larger blocks go back to the system at once.
constexpr int kLargeBlock = 256 * 1024;
/// At the end of each of malloc's heaps.
constexpr int kKeptAtEnd = 1 << 20;
constexpr int kFewestHeaps = 2;

}  // namespace

void FreedMemory::limit(std::int64_t bytes, int threads) {
  CHECK(bytes >= 0 && threads > 0, "malloc keeps memory for threads that work");
  bytes_ = bytes;
  // By default there are eight for each core, and blocks up to 32 MiB are kept once one was given back.
  ::mallopt(M_ARENA_MAX, std::max(kFewestHeaps, threads));
  ::mallopt(M_MMAP_THRESHOLD, kLargeBlock);
  ::mallopt(M_TRIM_THRESHOLD, kKeptAtEnd);
}

void FreedMemory::look() {
  const auto now = Clock::now().time_since_epoch().count();
  auto next = next_look_.load(std::memory_order_relaxed);
  const auto after = std::chrono::duration_cast<Clock::duration>(kBetweenLooks).count();
  if (now < next || !next_look_.compare_exchange_strong(next, now + after)) return;
  if (static_cast<std::int64_t>(::mallinfo2().fordblks) > bytes_) ::malloc_trim(0);
}

}  // namespace eindb
