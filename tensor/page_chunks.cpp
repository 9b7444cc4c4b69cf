#include "tensor/page_chunks.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <iterator>
#include <new>

#include "common/check.hpp"

namespace eindb {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20U;

// A huge page begins where its address is a multiple of its size.
std::byte* map_chunk(std::size_t bytes) {
  void* p = ::mmap(nullptr, bytes + kHugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  auto* raw = static_cast<std::byte*>(p);
  const auto before = (kHugePage - reinterpret_cast<std::uintptr_t>(raw) % kHugePage) % kHugePage;
  auto* chunk = raw + before;
  if (before > 0) ::munmap(raw, before);
  ::munmap(chunk + bytes, kHugePage - before);
  ::madvise(chunk, bytes, MADV_HUGEPAGE);  // where there are none, small pages do
  return chunk;
}

}  // namespace

PageChunks::~PageChunks() {
  for (const auto& [chunk, open_bytes] : chunks_) ::munmap(chunk, kChunk);
}

std::byte* PageChunks::take(std::size_t bytes) {
  CHECK(bytes > 0 && bytes % kPage == 0 && bytes <= kChunk, "blocks are pages of one chunk");
  auto found = by_size_.lower_bound({bytes, nullptr});
  if (found == by_size_.end()) {
    if (!add_chunk()) return nullptr;
    found = by_size_.lower_bound({bytes, nullptr});
  }
  const auto [size, begin] = *found;
  if (!open(begin + bytes)) return nullptr;
  remove_free(free_.find(begin));
  if (size > bytes) add_free(begin + bytes, size - bytes);
  return begin;
}

bool PageChunks::owns(const std::byte* block) const {
  const auto next = chunks_.upper_bound(const_cast<std::byte*>(block));
  return next != chunks_.begin() && block < std::prev(next)->first + kChunk;
}

// The system counts what may be written to: a chunk is opened as far as it is used.
bool PageChunks::open(std::byte* end) {
  auto& [chunk, open_bytes] = *std::prev(chunks_.lower_bound(end));
  const auto needed = (static_cast<std::size_t>(end - chunk) + kHugePage - 1) / kHugePage * kHugePage;
  if (needed <= open_bytes) return true;
  if (::mprotect(chunk + open_bytes, needed - open_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  open_bytes = needed;
  return true;
}

void PageChunks::give_back(std::byte* block, std::size_t bytes) noexcept {
  ::madvise(block, bytes, MADV_DONTNEED);  // reads as zeros from now on
  try {
    auto* begin = block;
    auto next = free_.lower_bound(block);
    if (next != free_.begin()) {
      const auto before = std::prev(next);
      // Chunks that lie side by side stay apart.
      if (before->first + before->second == block && !chunks_.contains(block)) {
        begin = before->first;
        bytes += before->second;
        remove_free(before);
      }
    }
    if (next != free_.end() && begin + bytes == next->first && !chunks_.contains(next->first)) {
      bytes += next->second;
      remove_free(next);
    }
    if (bytes == kChunk) {
      chunks_.erase(begin);
      ::munmap(begin, kChunk);
      return;
    }
    add_free(begin, bytes);
  } catch (const std::bad_alloc&) {  // then it is not used again, and holds no memory either
  }
}

bool PageChunks::add_chunk() {
  auto* chunk = map_chunk(kChunk);
  if (chunk == nullptr) return false;
  chunks_.emplace(chunk, 0);
  add_free(chunk, kChunk);
  return true;
}

void PageChunks::add_free(std::byte* begin, std::size_t bytes) {
  free_.emplace(begin, bytes);
  by_size_.emplace(bytes, begin);
}

void PageChunks::remove_free(std::map<std::byte*, std::size_t>::iterator range) {
  by_size_.erase({range->second, range->first});
  free_.erase(range);
}

}  // namespace eindb
