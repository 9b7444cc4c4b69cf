#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <utility>

#include "tensor/page_chunks.hpp"

namespace eindb {

/// The allocator of tiles' elements, for the whole process.
///
/// Fresh pages cost more than one arithmetic pass over them, since the system zeroes each at its first use. Therefore
/// large blocks are mapped, in huge pages where limits allow it, and kept when they are returned, to be reused for
/// blocks of similar size. Small blocks come from malloc. If not all can be kept, those returned first are freed, so
/// that a repeated statement finds its blocks again whatever ran before. Blocks of other sizes are cut out of freed
/// ones where they fit.
///
/// Kept memory counts: small blocks, large blocks in use and kept ones together stay within the limits of the running
/// statements (Limit), as far as the blocks in use allow; when no statement runs, at most kIdleBytes are kept. If there
/// is no room for a large block, malloc is told to release its cache of small blocks.
///
/// Thread-safe.
class TileMemory {
 public:
  /// Blocks of this size and more are mapped and kept.
  static constexpr std::size_t kLargeBytes = std::size_t{128} << 10U;
  /// The most bytes kept between statements.
  static constexpr std::int64_t kIdleBytes = std::int64_t{1} << 30U;

  struct Block {
    std::byte* data = nullptr;  ///< aligned to 64 bytes, from 2 MiB on to 2 MiB; null: out of memory
    std::size_t mapped = 0;     ///< mapped bytes of a large block; 0: from malloc
    bool zero = false;          ///< all bytes are zero and untouched
  };

  /// The allocator of the process.
  static TileMemory& instance();

  /// At least `bytes`, plus the vector line after them, which loads may touch.
  Block take(std::size_t bytes);
  void give_back(std::byte* data, std::size_t mapped) noexcept;

  /// Frees kept blocks until at most `bytes` are kept.
  void trim(std::int64_t bytes) noexcept;

  std::int64_t kept_bytes() const;
  /// Bytes of large blocks in use.
  std::int64_t used_bytes() const;

  /// The memory limit of a running statement; the limits of concurrent statements add up.
  class Limit {
   public:
    explicit Limit(std::int64_t bytes);
    ~Limit();
    Limit(const Limit&) = delete;
    Limit& operator=(const Limit&) = delete;

   private:
    std::int64_t bytes_;
  };

 private:
  TileMemory() = default;

  using ByAge = std::list<std::pair<std::byte*, std::size_t>>;
  using BySize = std::multimap<std::size_t, ByAge::iterator>;

  Block take_small(std::size_t bytes);
  Block take_large(std::size_t bytes);
  void give_back_small(std::byte* data) noexcept;
  void trim_malloc_locked() noexcept;
  void keep_locked(std::byte* data, std::size_t bytes);
  std::pair<std::byte*, std::size_t> forget_locked(BySize::iterator kept) noexcept;
  std::pair<std::byte*, std::size_t> forget_oldest_locked() noexcept;
  std::int64_t kept_bytes_locked() const;
  std::byte* map_locked(std::size_t bytes);
  std::byte* recut_locked(std::size_t bytes);
  void release_locked(std::byte* data, std::size_t bytes) noexcept;
  std::int64_t kept_at_most() const;
  void trim_locked(std::int64_t bytes) noexcept;

  std::atomic<std::int64_t> small_bytes_{0};       // of small blocks in use
  std::atomic<std::int64_t> small_bytes_most_{0};  // the most since malloc was trimmed: about what malloc holds
  mutable std::mutex mutex_;                       // guards the members below
  PageChunks chunks_;                              // of blocks smaller than a huge page
  ByAge kept_;                                     // in the order in which they were returned
  BySize kept_by_size_;                            // of one size as well
  std::int64_t kept_bytes_ = 0;
  std::int64_t used_bytes_ = 0;
  std::int64_t limits_ = 0;  // of the statements that run, together
  int running_ = 0;
};

}  // namespace eindb
