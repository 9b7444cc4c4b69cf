#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace eindb {

/// Memory in blocks that are smaller than a huge page, cut side by side out of large chunks, so that the system has
/// huge pages for them all the same: reading tiles from small ones takes up to twice as long, for address translation.
///
/// What is not in use holds no memory but the rest of a huge page beside a block. Not thread-safe.
class PageChunks {
 public:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kChunk = std::size_t{64} << 20U;

  PageChunks() = default;
  ~PageChunks();
  PageChunks(const PageChunks&) = delete;
  PageChunks& operator=(const PageChunks&) = delete;

  /// `bytes` zeros, a multiple of kPage of at most kChunk, that begin on a page; null if there is no memory.
  std::byte* take(std::size_t bytes);
  bool owns(const std::byte* block) const;
  /// A block as it was taken. Its memory goes back to the system.
  void give_back(std::byte* block, std::size_t bytes) noexcept;

 private:
  using Range = std::pair<std::size_t, std::byte*>;  // size, begin

  bool add_chunk();
  bool open(std::byte* end);
  void add_free(std::byte* begin, std::size_t bytes);
  void remove_free(std::map<std::byte*, std::size_t>::iterator range);

  std::map<std::byte*, std::size_t> chunks_;  // of each, how many bytes from its begin may be written to
  std::map<std::byte*, std::size_t> free_;    // ranges that do not touch
  std::set<Range> by_size_;                   // the same
};

}  // namespace eindb
