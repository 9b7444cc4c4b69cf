#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace eindb {

/// Memory blocks smaller than a huge page, cut side by side out of large chunks, so that the system can back them by
/// huge pages: with small pages, reading tiles takes up to twice as long because of address translation.
///
/// Unused memory is either fresh, with no physical memory except the rest of a huge page beside a block, or used: it
/// keeps the physical memory of returned blocks, out of which blocks of other sizes can be cut. Not thread-safe.
class PageChunks {
 public:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kHugePage = std::size_t{2} << 20U;
  static constexpr std::size_t kChunk = std::size_t{64} << 20U;

  PageChunks() = default;
  ~PageChunks();
  PageChunks(const PageChunks&) = delete;
  PageChunks& operator=(const PageChunks&) = delete;

  /// Returns `bytes` zeros at a page boundary; `bytes` is a multiple of kPage of at most kChunk. Null if there is no
  /// memory. `huge` requests huge pages for a newly mapped chunk.
  std::byte* take(std::size_t bytes, bool huge = true);
  /// The same out of used memory, with arbitrary content; null if no range is large enough.
  std::byte* take_used(std::size_t bytes);
  bool owns(const std::byte* block) const;
  /// Returns a block. Its physical memory is kept until refresh().
  void give_back(std::byte* block, std::size_t bytes) noexcept;

  /// Bytes of returned blocks.
  std::size_t used_bytes() const { return used_.bytes(); }
  /// Returns at least `bytes` of used memory to the system, as far as there is any.
  void refresh(std::size_t bytes) noexcept;

 private:
  /// Unused ranges; no two of them are adjacent within a chunk.
  class FreeRanges {
   public:
    /// Adds a range and merges it with its neighbours, but not across `chunks`. Returns the merged range.
    std::pair<std::byte*, std::size_t> add(std::byte* begin, std::size_t bytes,
                                           const std::map<std::byte*, std::size_t>& chunks);
    /// The first byte of the smallest range with at least `bytes`; null if there is none.
    std::byte* best_fit(std::size_t bytes) const;
    /// Removes the first `bytes` of the range that starts at `begin`.
    void take(std::byte* begin, std::size_t bytes) noexcept;
    std::pair<std::byte*, std::size_t> largest() const;
    std::size_t bytes() const { return bytes_; }

   private:
    using Ranges = std::map<std::byte*, std::size_t>;

    Ranges::iterator insert(std::byte* begin, std::size_t bytes);
    void merge(Ranges::iterator range, Ranges::iterator next) noexcept;

    Ranges ranges_;
    std::set<std::pair<std::size_t, std::byte*>> by_size_;  // the same ranges
    std::size_t bytes_ = 0;
  };

  bool add_chunk(bool huge);
  bool open(std::byte* end);
  void make_fresh(std::byte* begin, std::size_t bytes) noexcept;

  std::map<std::byte*, std::size_t> chunks_;  // for each chunk, the number of bytes from its begin that are writable
  FreeRanges fresh_;
  FreeRanges used_;
};

}  // namespace eindb
