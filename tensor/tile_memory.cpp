#include "tensor/tile_memory.hpp"

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>

#include "common/check.hpp"
#include "common/sanitizers.hpp"

namespace eindb {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kPage = PageChunks::kPage;
constexpr std::size_t kHugePage = PageChunks::kHugePage;
constexpr std::size_t kMostRecut = 8;  // bytes given up to recut a block, as a multiple of its size
constexpr std::int64_t kMallocBytes = std::int64_t{1} << 20U;  // that malloc may keep in any case

constexpr bool kKeeps = !kSanitized;  // kept blocks would hide uses after free

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

std::byte* aligned_up(std::byte* p, std::size_t alignment) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  return p + (round_up(address, alignment) - address);
}

// malloc caches small blocks per thread, aligned to 16 bytes; aligned_alloc does not. The pointer from malloc is stored
// in front of the aligned block.
std::byte* allocate_small(std::size_t bytes) {
  auto* raw = static_cast<std::byte*>(std::malloc(bytes + 2 * kLine));
  if (raw == nullptr) return nullptr;
  auto* data = aligned_up(raw + sizeof raw, kLine);
  *reinterpret_cast<std::byte**>(data - sizeof raw) = raw;
  return data;
}

std::byte* raw_of(std::byte* data) noexcept { return *reinterpret_cast<std::byte**>(data - sizeof data); }

std::byte* map_pages(std::size_t bytes) {
  void* p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<std::byte*>(p);
}

// Huge pages begin at multiples of their size.
std::byte* map_aligned(std::size_t bytes, bool huge) {
  auto* raw = map_pages(bytes + kHugePage);
  if (raw == nullptr) return nullptr;
  auto* data = aligned_up(raw, kHugePage);
  const auto before = static_cast<std::size_t>(data - raw);
  if (before > 0) ::munmap(raw, before);
  if (before < kHugePage) ::munmap(data + bytes, kHugePage - before);
  if (huge) ::madvise(data, bytes, MADV_HUGEPAGE);  // falls back to small pages if there are none
  return data;
}

}  // namespace

TileMemory& TileMemory::instance() {
  // Never destroyed: objects with static lifetime may return tiles after any destructor.
  static auto* const memory = [] {
    auto* const made = new TileMemory;
    // A child that is forked while another thread holds the mutex would wait for it forever.
    const int failed = ::pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                                        [] { instance().mutex_.unlock(); });
    CHECK(failed == 0 || failed == ENOMEM, "handlers of forks can be registered as long as there is memory");
    return made;
  }();
  return *memory;
}

TileMemory::Block TileMemory::take(std::size_t bytes) {
  constexpr auto kMost = std::numeric_limits<std::size_t>::max() / 2;
  if (bytes > kMost) return {};
  const auto padded = bytes + kLine;
  if (!kKeeps) return {allocate_small(padded), 0, false};
  return padded < kLargeBytes ? take_small(padded) : take_large(round_up(padded, kPage));
}

TileMemory::Block TileMemory::take_small(std::size_t bytes) {
  auto* data = allocate_small(bytes);
  if (data == nullptr) return {};
  const auto size = static_cast<std::int64_t>(::malloc_usable_size(raw_of(data)));
  const auto used = small_bytes_.fetch_add(size, std::memory_order_relaxed) + size;
  auto most = small_bytes_most_.load(std::memory_order_relaxed);
  while (most < used && !small_bytes_most_.compare_exchange_weak(most, used, std::memory_order_relaxed)) {
  }
  if (most < used) {
    const std::lock_guard lock(mutex_);
    trim_locked(kept_at_most());
  }
  return {data, 0, false};
}

void TileMemory::give_back_small(std::byte* data) noexcept {
  auto* raw = raw_of(data);
  if (kKeeps) small_bytes_.fetch_sub(static_cast<std::int64_t>(::malloc_usable_size(raw)), std::memory_order_relaxed);
  std::free(raw);
}

// malloc_trim examines all blocks, so it is called only if much may be released.
void TileMemory::trim_malloc_locked() noexcept {
  const auto most = small_bytes_most_.load(std::memory_order_relaxed);
  const auto kept = most - small_bytes_.load(std::memory_order_relaxed);
  if (running_ == 0 || used_bytes_ + most <= limits_ || kept <= kMallocBytes) return;
  ::malloc_trim(0);
  small_bytes_most_.fetch_sub(kept, std::memory_order_relaxed);
}

TileMemory::Block TileMemory::take_large(std::size_t bytes) {
  const auto wanted = static_cast<std::int64_t>(bytes);
  const std::lock_guard lock(mutex_);
  // The smallest kept block that is large enough; a much larger one would waste memory that is not accounted for.
  const auto found = kept_by_size_.lower_bound(bytes);
  if (found != kept_by_size_.end() && found->first <= bytes + bytes / 8) {
    // Among equal blocks, the most recently returned one, which may still be in caches.
    const auto [data, mapped] = forget_locked(std::prev(kept_by_size_.upper_bound(found->first)));
    used_bytes_ += static_cast<std::int64_t>(mapped);
    return {data, mapped, false};
  }
  used_bytes_ += wanted;
  if (auto* data = recut_locked(bytes)) return {data, bytes, false};
  trim_locked(kept_at_most());
  trim_malloc_locked();
  auto* data = map_locked(bytes);
  if (data == nullptr) {
    trim_locked(0);
    data = map_locked(bytes);
  }
  if (data != nullptr) return {data, bytes, true};
  used_bytes_ -= wanted;
  return {};
}

// Takes used memory, giving up kept blocks of other sizes if there is no room for fresh memory.
std::byte* TileMemory::recut_locked(std::size_t bytes) {
  if (bytes >= kHugePage) return nullptr;  // these are mapped by themselves
  auto left = static_cast<std::int64_t>(kMostRecut * bytes);
  while (true) {
    if (auto* data = chunks_.take_used(bytes)) return data;
    if (kept_.empty() || left <= 0 || kept_bytes_locked() <= kept_at_most()) return nullptr;
    const auto [data, mapped] = forget_oldest_locked();
    left -= static_cast<std::int64_t>(mapped);
    release_locked(data, mapped);
  }
}

// With little memory, the rest of a huge page beside a block would be a considerable part of it. With a moderate
// amount, blocks come and go: to form huge pages the system moves other pages, which sometimes costs more than it
// gains, and parts of them return as small pages.
std::byte* TileMemory::map_locked(std::size_t bytes) {
  constexpr std::int64_t kLeastForChunks = 64 * static_cast<std::int64_t>(kHugePage);
  constexpr std::int64_t kLeastForHugePages = 512 * static_cast<std::int64_t>(kHugePage);
  const bool huge = running_ == 0 || limits_ >= kLeastForHugePages;
  if (bytes >= kHugePage) return map_aligned(bytes, huge);
  return limits_ < kLeastForChunks ? map_pages(bytes) : chunks_.take(bytes, huge);
}

// Chunks keep the physical memory until trim_locked().
void TileMemory::release_locked(std::byte* data, std::size_t bytes) noexcept {
  if (chunks_.owns(data)) chunks_.give_back(data, bytes);
  else ::munmap(data, bytes);
}

void TileMemory::give_back(std::byte* data, std::size_t mapped) noexcept {
  if (mapped == 0) return give_back_small(data);
  const auto bytes = static_cast<std::int64_t>(mapped);
  const std::lock_guard lock(mutex_);
  used_bytes_ -= bytes;
  const auto most = kept_at_most();
  if (bytes <= most) {
    trim_locked(most - bytes);
    try {
      return keep_locked(data, mapped);
    } catch (const std::bad_alloc&) {  // the block is not kept
    }
  }
  release_locked(data, mapped);
  trim_locked(most);
}

void TileMemory::keep_locked(std::byte* data, std::size_t bytes) {
  const auto kept = kept_.emplace(kept_.end(), data, bytes);
  try {
    kept_by_size_.emplace(bytes, kept);
  } catch (const std::bad_alloc&) {
    kept_.erase(kept);
    throw;
  }
  kept_bytes_ += static_cast<std::int64_t>(bytes);
}

std::pair<std::byte*, std::size_t> TileMemory::forget_locked(BySize::iterator kept) noexcept {
  const auto block = *kept->second;
  kept_.erase(kept->second);
  kept_by_size_.erase(kept);
  kept_bytes_ -= static_cast<std::int64_t>(block.second);
  return block;
}

std::pair<std::byte*, std::size_t> TileMemory::forget_oldest_locked() noexcept {
  return forget_locked(kept_by_size_.lower_bound(kept_.front().second));
}

std::int64_t TileMemory::kept_bytes_locked() const {
  return kept_bytes_ + static_cast<std::int64_t>(chunks_.used_bytes());
}

std::int64_t TileMemory::kept_at_most() const {
  if (running_ == 0) return kIdleBytes;
  return std::max<std::int64_t>(0, limits_ - used_bytes_ - small_bytes_most_.load(std::memory_order_relaxed));
}

void TileMemory::trim_locked(std::int64_t bytes) noexcept {
  for (auto more = kept_bytes_locked() - bytes; more > 0; more = kept_bytes_locked() - bytes) {
    if (chunks_.used_bytes() > 0) {
      chunks_.refresh(static_cast<std::size_t>(more));
    } else if (!kept_.empty()) {
      const auto [data, mapped] = forget_oldest_locked();
      release_locked(data, mapped);
    } else {
      return;
    }
  }
}

void TileMemory::trim(std::int64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  trim_locked(bytes);
}

std::int64_t TileMemory::kept_bytes() const {
  const std::lock_guard lock(mutex_);
  return kept_bytes_locked();
}

std::int64_t TileMemory::used_bytes() const {
  const std::lock_guard lock(mutex_);
  return used_bytes_;
}

TileMemory::Limit::Limit(std::int64_t bytes) : bytes_(bytes) {
  auto& memory = instance();
  const std::lock_guard lock(memory.mutex_);
  ++memory.running_;
  memory.limits_ += bytes_;
  memory.trim_locked(memory.kept_at_most());
}

TileMemory::Limit::~Limit() {
  auto& memory = instance();
  const std::lock_guard lock(memory.mutex_);
  memory.limits_ -= bytes_;
  // One statement's limit is enough to keep for the next one.
  if (--memory.running_ == 0) memory.trim_locked(std::min(bytes_, kIdleBytes));
}

}  // namespace eindb
