#include "tensor/page_chunks.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <new>

#include "common/check.hpp"

namespace eindb {
namespace {

// Huge pages begin at multiples of their size.
std::byte* map_chunk(std::size_t bytes, bool huge) {
  constexpr auto kHugePage = PageChunks::kHugePage;
  void* p = ::mmap(nullptr, bytes + kHugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  auto* raw = static_cast<std::byte*>(p);
  const auto before = (kHugePage - reinterpret_cast<std::uintptr_t>(raw) % kHugePage) % kHugePage;
  auto* chunk = raw + before;
  if (before > 0) ::munmap(raw, before);
  ::munmap(chunk + bytes, kHugePage - before);
  if (huge) ::madvise(chunk, bytes, MADV_HUGEPAGE);  // falls back to small pages if there are none
  return chunk;
}

}  // namespace

PageChunks::~PageChunks() {
  for (const auto& [chunk, open_bytes] : chunks_) ::munmap(chunk, kChunk);
}

std::byte* PageChunks::take(std::size_t bytes, bool huge) {
  CHECK(bytes > 0 && bytes % kPage == 0 && bytes <= kChunk, "blocks are pages of one chunk");
  auto* begin = fresh_.best_fit(bytes);
  if (begin == nullptr) {
    if (!add_chunk(huge)) return nullptr;
    begin = fresh_.best_fit(bytes);
  }
  if (!open(begin + bytes)) return nullptr;
  fresh_.take(begin, bytes);
  return begin;
}

std::byte* PageChunks::take_used(std::size_t bytes) {
  auto* begin = used_.best_fit(bytes);
  if (begin != nullptr) used_.take(begin, bytes);
  return begin;
}

bool PageChunks::owns(const std::byte* block) const {
  const auto next = chunks_.upper_bound(const_cast<std::byte*>(block));
  return next != chunks_.begin() && block < std::prev(next)->first + kChunk;
}

// The system accounts for writable memory, so a chunk is made writable only as far as it is used.
bool PageChunks::open(std::byte* end) {
  auto& [chunk, open_bytes] = *std::prev(chunks_.lower_bound(end));
  const auto needed = (static_cast<std::size_t>(end - chunk) + kHugePage - 1) / kHugePage * kHugePage;
  if (needed <= open_bytes) return true;
  if (::mprotect(chunk + open_bytes, needed - open_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  open_bytes = needed;
  return true;
}

void PageChunks::give_back(std::byte* block, std::size_t bytes) noexcept {
  try {
    used_.add(block, bytes, chunks_);
  } catch (const std::bad_alloc&) {  // the chunk stays unknown and holds no physical memory
    ::madvise(block, bytes, MADV_DONTNEED);
  }
}

void PageChunks::refresh(std::size_t bytes) noexcept {
  const auto least = used_.bytes() - std::min(used_.bytes(), bytes);
  while (used_.bytes() > least) {
    const auto [begin, size] = used_.largest();
    // Frees whole huge pages, so that few calls suffice.
    const auto rest = (used_.bytes() - least + kHugePage - 1) / kHugePage * kHugePage;
    const auto part = std::min(size, rest);
    used_.take(begin, part);
    make_fresh(begin, part);
  }
}

void PageChunks::make_fresh(std::byte* begin, std::size_t bytes) noexcept {
  ::madvise(begin, bytes, MADV_DONTNEED);  // reads as zeros from now on
  try {
    const auto [whole, size] = fresh_.add(begin, bytes, chunks_);
    if (size < kChunk) return;
    fresh_.take(whole, size);
    chunks_.erase(whole);
    ::munmap(whole, kChunk);
  } catch (const std::bad_alloc&) {  // the range is not used again
  }
}

bool PageChunks::add_chunk(bool huge) {
  auto* chunk = map_chunk(kChunk, huge);
  if (chunk == nullptr) return false;
  chunks_.emplace(chunk, 0);
  fresh_.add(chunk, kChunk, chunks_);
  return true;
}

// ---- FreeRanges ----------------------------------------------------------------------------------------------------

std::pair<std::byte*, std::size_t> PageChunks::FreeRanges::add(std::byte* begin, std::size_t bytes,
                                                               const std::map<std::byte*, std::size_t>& chunks) {
  auto range = insert(begin, bytes);
  const auto next = std::next(range);
  if (next != ranges_.end() && begin + bytes == next->first && !chunks.contains(next->first)) merge(range, next);
  if (range != ranges_.begin() && !chunks.contains(begin)) {
    const auto before = std::prev(range);
    if (before->first + before->second == begin) {
      merge(before, range);
      range = before;
    }
  }
  return *range;
}

std::byte* PageChunks::FreeRanges::best_fit(std::size_t bytes) const {
  const auto found = by_size_.lower_bound({bytes, nullptr});
  return found == by_size_.end() ? nullptr : found->second;
}

void PageChunks::FreeRanges::take(std::byte* begin, std::size_t bytes) noexcept {
  auto range = ranges_.extract(begin);
  auto sized = by_size_.extract({range.mapped(), begin});
  bytes_ -= bytes;
  if (range.mapped() == bytes) return;
  range.key() += bytes;
  range.mapped() -= bytes;
  sized.value() = {range.mapped(), range.key()};
  ranges_.insert(std::move(range));
  by_size_.insert(std::move(sized));
}

std::pair<std::byte*, std::size_t> PageChunks::FreeRanges::largest() const {
  const auto [size, begin] = *by_size_.rbegin();
  return {begin, size};
}

PageChunks::FreeRanges::Ranges::iterator PageChunks::FreeRanges::insert(std::byte* begin, std::size_t bytes) {
  const auto range = ranges_.emplace(begin, bytes).first;
  try {
    by_size_.emplace(bytes, begin);
  } catch (...) {
    ranges_.erase(range);
    throw;
  }
  bytes_ += bytes;
  return range;
}

void PageChunks::FreeRanges::merge(Ranges::iterator range, Ranges::iterator next) noexcept {
  auto sized = by_size_.extract({range->second, range->first});
  by_size_.erase({next->second, next->first});
  range->second += next->second;
  ranges_.erase(next);
  sized.value().first = range->second;
  by_size_.insert(std::move(sized));
}

}  // namespace eindb
