#include "executor/kernels/streamed_copy.hpp"

#include <emmintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "executor/kernels/cache_sizes.hpp"
#include "executor/kernels/instruction_set.hpp"

namespace eindb {
namespace {

constexpr std::size_t kStreamedLine = 64;
constexpr std::size_t kShortestStream = 8 * kStreamedLine;  // its first and last line are written in parts

}  // namespace

bool exceeds_caches(std::size_t all_bytes) { return all_bytes > cache_sizes().second; }

bool is_streamed(std::size_t row_bytes, std::size_t all_bytes) {
  return row_bytes >= kShortestStream && exceeds_caches(all_bytes);
}

// Whole lines are streamed, as the processor combines their stores.
void stream_row(void* to, const void* from, std::size_t bytes) {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  const auto behind = reinterpret_cast<std::uintptr_t>(to) % kStreamedLine;
  const auto head = std::min(bytes, behind == 0 ? 0 : kStreamedLine - behind);
  const auto lines = (bytes - head) / kStreamedLine;
  const auto end = head + lines * kStreamedLine;
  std::memcpy(target, source, head);
  preferred_level_table().streams.copy_lines(target + head, source + head, static_cast<std::int64_t>(lines));
  std::memcpy(target + end, source + end, bytes - end);
}

void end_streams() { _mm_sfence(); }

}  // namespace eindb
