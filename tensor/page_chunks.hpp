#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace eindb {

/// Memory in blocks that are smaller than a huge page, cut side by side out of large chunks, so that the system has
/// huge pages for them all the same: reading tiles from small ones takes up to twice as long, for address translation.
///
/// What is not in use is fresh, and holds no memory but the rest of a huge page beside a block, or used: it holds the
/// memory of blocks that were given back, from which blocks of other sizes can be cut. Not thread-safe.
class PageChunks {
 public:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kChunk = std::size_t{64} << 20U;

  PageChunks() = default;
  ~PageChunks();
  PageChunks(const PageChunks&) = delete;
  PageChunks& operator=(const PageChunks&) = delete;

  /// `bytes` zeros, a multiple of kPage of at most kChunk, that begin on a page; null if there is no memory. A chunk
  /// that is mapped for them asks for huge pages if `huge` says so.
  std::byte* take(std::size_t bytes, bool huge = true);
  /// The same of used memory, whatever stands there; null if there is none in one piece.
  std::byte* take_used(std::size_t bytes);
  bool owns(const std::byte* block) const;
  /// A block as it was taken. It keeps its memory, until refresh().
  void give_back(std::byte* block, std::size_t bytes) noexcept;

  /// Of blocks that were given back.
  std::size_t used_bytes() const { return used_.bytes(); }
  /// Gives memory of at least so many used bytes back to the system, as far as there are.
  void refresh(std::size_t bytes) noexcept;

 private:
  /// Ranges that are not in use: no two of them touch within a chunk.
  class FreeRanges {
   public:
    /// Merged with its neighbours, but not across `chunks`. The whole of what it has become.
    std::pair<std::byte*, std::size_t> add(std::byte* begin, std::size_t bytes,
                                           const std::map<std::byte*, std::size_t>& chunks);
    /// The first of the smallest that have so many bytes; null if none has.
    std::byte* best_fit(std::size_t bytes) const;
    /// The first bytes of a range.
    void take(std::byte* begin, std::size_t bytes) noexcept;
    std::pair<std::byte*, std::size_t> largest() const;
    std::size_t bytes() const { return bytes_; }

   private:
    using Ranges = std::map<std::byte*, std::size_t>;

    Ranges::iterator insert(std::byte* begin, std::size_t bytes);
    void merge(Ranges::iterator range, Ranges::iterator next) noexcept;

    Ranges ranges_;
    std::set<std::pair<std::size_t, std::byte*>> by_size_;  // the same
    std::size_t bytes_ = 0;
  };

  bool add_chunk(bool huge);
  bool open(std::byte* end);
  void make_fresh(std::byte* begin, std::size_t bytes) noexcept;

  std::map<std::byte*, std::size_t> chunks_;  // of each, how many bytes from its begin may be written to
  FreeRanges fresh_;
  FreeRanges used_;
};

}  // namespace eindb
