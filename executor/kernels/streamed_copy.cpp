#include "executor/kernels/streamed_copy.hpp"

#include <emmintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "executor/kernels/cache_sizes.hpp"

namespace eindb {
namespace {

constexpr std::size_t kStreamedLine = 64;
constexpr std::size_t kShortestStream = 8 * kStreamedLine;  // its first and last line are written in parts

}  // namespace

bool is_streamed(std::size_t row_bytes, std::size_t all_bytes) {
  return row_bytes >= kShortestStream && all_bytes > cache_sizes().second;
}

// Whole lines are streamed, as the processor combines their four stores.
void stream_row(void* to, const void* from, std::size_t bytes) {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  const auto behind = reinterpret_cast<std::uintptr_t>(to) % kStreamedLine;
  const auto head = std::min(bytes, behind == 0 ? 0 : kStreamedLine - behind);
  const auto end = head + (bytes - head) / kStreamedLine * kStreamedLine;
  std::memcpy(target, source, head);
  for (auto at = head; at < end; at += kStreamedLine) {
    for (std::size_t n = 0; n < kStreamedLine; n += sizeof(__m128i)) {
      const auto values = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + at + n));
      _mm_stream_si128(reinterpret_cast<__m128i*>(target + at + n), values);
    }
  }
  std::memcpy(target + end, source + end, bytes - end);
}

void end_streams() { _mm_sfence(); }

}  // namespace eindb
