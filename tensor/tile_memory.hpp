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

/// Where tiles take the memory of their elements from, in the whole process, as malloc is where everything else does.
///
/// The pages of fresh memory cost more than arithmetic that passes over them once: the system makes each of them zero
/// when it is first touched. Large blocks are therefore mapped, in huge pages where limits allow it, and kept when
/// they are given back: the next block of about the size is one of those. Small ones are malloc's. Where not all can be
/// kept, those go that were given back first: a statement that is run again finds its blocks whatever ran before.
/// Blocks of other sizes are cut out of what goes, where they fit.
///
/// What is kept counts: small blocks, large ones in use and kept ones together stay within the limits of the statements
/// that run (Limit), as far as what is in use allows; when none runs, at most kIdleBytes are kept. What malloc keeps of
/// small blocks it is told to give back when there is no room for a large one.
///
/// Thread-safe.
class TileMemory {
 public:
  /// Blocks of so many bytes and more are mapped and kept.
  static constexpr std::size_t kLargeBytes = std::size_t{128} << 10U;
  /// Kept between statements.
  static constexpr std::int64_t kIdleBytes = std::int64_t{1} << 30U;

  struct Block {
    std::byte* data = nullptr;  ///< aligned to 64 bytes, from 2 MiB on to 2 MiB; null: there is no memory
    std::size_t mapped = 0;     ///< bytes of a large block as it is mapped; 0: from malloc
    bool zero = false;          ///< all bytes are zero, and not touched yet
  };

  /// That of the process.
  static TileMemory& instance();

  /// At least `bytes` and the vector line after them, which loads may touch.
  Block take(std::size_t bytes);
  void give_back(std::byte* data, std::size_t mapped) noexcept;

  /// Lets go of kept blocks until at most `bytes` are kept.
  void trim(std::int64_t bytes) noexcept;

  std::int64_t kept_bytes() const;
  /// Of large blocks in use.
  std::int64_t used_bytes() const;

  /// A statement that runs in `bytes`; those of statements that run at the same time add up.
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
  std::atomic<std::int64_t> small_bytes_most_{0};  // since malloc gave any back: about what it holds for them
  mutable std::mutex mutex_;                       // guards what follows
  PageChunks chunks_;                              // of blocks smaller than a huge page
  ByAge kept_;                                     // those that were given back first stand first
  BySize kept_by_size_;                            // of one size as well
  std::int64_t kept_bytes_ = 0;
  std::int64_t used_bytes_ = 0;
  std::int64_t limits_ = 0;  // of the statements that run, together
  int running_ = 0;
};

}  // namespace eindb
