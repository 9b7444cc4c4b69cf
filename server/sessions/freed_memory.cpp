#include "server/sessions/freed_memory.hpp"

#include <malloc.h>

#include <algorithm>

#include "common/check.hpp"

namespace eindb {
namespace {

using Clock = std::chrono::steady_clock;

/// The interval between checks, since malloc takes some milliseconds to count and return memory.
constexpr auto kBetweenLooks = std::chrono::milliseconds(200);
/// Larger blocks are returned to the system immediately.
constexpr int kLargeBlock = 256 * 1024;
/// The memory that malloc keeps at the end of each of its heaps.
constexpr int kKeptAtEnd = 1 << 20;
constexpr int kFewestHeaps = 2;

}  // namespace

void FreedMemory::limit(std::int64_t bytes, int threads) {
  CHECK(bytes >= 0 && threads > 0, "malloc keeps memory for threads that work");
  bytes_ = bytes;
  // By default malloc has eight heaps per core, and keeps blocks up to 32 MiB once one was freed.
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
