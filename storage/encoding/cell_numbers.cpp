#include "storage/encoding/cell_numbers.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/check.hpp"

namespace eindb {
namespace {

constexpr std::size_t kWidestGap = 32;
/// Beyond a block, so that eight bytes can be read at each of its bytes.
constexpr std::size_t kBlockPadding = sizeof(std::uint64_t);
using BlockBytes = std::array<std::byte, kNumbersPerBlock * kWidestGap / 8 + kBlockPadding>;

std::size_t block_size(std::size_t count, std::size_t width) { return (count * width + 7) / 8; }

/// The gaps of one block, and the bits of the largest.
struct Gaps {
  std::array<std::uint32_t, kNumbersPerBlock> gaps{};
  std::size_t width = 0;
};

/// `begin` is the number after the one before the block.
Gaps gaps_of(std::span<const std::uint32_t> block, std::uint32_t begin) {
  Gaps out;
  std::uint32_t all = 0;
  for (std::size_t n = 0; n < block.size(); ++n) {
    DCHECK(block[n] >= begin, "numbers of cells ascend");
    out.gaps[n] = block[n] - begin;
    all |= out.gaps[n];
    begin = block[n] + 1;
  }
  out.width = static_cast<std::size_t>(std::bit_width(all));
  return out;
}

template <class Take>
void for_each_block(std::span<const std::uint32_t> numbers, Take&& take) {
  std::uint32_t begin = 0;
  for (std::size_t first = 0; first < numbers.size(); first += kNumbersPerBlock) {
    const auto block = numbers.subspan(first, std::min(kNumbersPerBlock, numbers.size() - first));
    take(gaps_of(block, begin), block.size());
    begin = block.back() + 1;
  }
}

std::uint64_t bits_at(const std::byte* bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes, sizeof(bits));
  return bits;
}

}  // namespace

std::size_t packed_numbers_size(std::span<const std::uint32_t> numbers) {
  std::size_t size = 0;
  for_each_block(numbers, [&](const Gaps& gaps, std::size_t count) { size += 1 + block_size(count, gaps.width); });
  return size;
}

void pack_numbers(std::span<const std::uint32_t> numbers, std::span<std::byte> target) {
  for_each_block(numbers, [&](const Gaps& gaps, std::size_t count) {
    BlockBytes bytes{};
    for (std::size_t n = 0; n < count; ++n) {
      auto* place = bytes.data() + n * gaps.width / 8;
      const auto bits = bits_at(place) | std::uint64_t{gaps.gaps[n]} << (n * gaps.width % 8);
      std::memcpy(place, &bits, sizeof(bits));
    }
    const auto size = block_size(count, gaps.width);
    CHECK(target.size() > size, "packed numbers have the room that they take");
    target[0] = static_cast<std::byte>(gaps.width);
    if (size != 0) std::memcpy(target.data() + 1, bytes.data(), size);
    target = target.subspan(1 + size);
  });
  CHECK(target.empty(), "packed numbers take the bytes that were said of them");
}

std::optional<std::span<const std::int64_t>> PackedNumbers::next() {
  if (left_ == 0) {
    if (!rest_.empty()) return std::nullopt;
    return std::span<const std::int64_t>{};
  }
  if (rest_.empty()) return std::nullopt;
  const auto count = std::min<std::size_t>(kNumbersPerBlock, static_cast<std::size_t>(left_));
  const auto width = std::to_integer<std::size_t>(rest_[0]);
  if (width > kWidestGap) return std::nullopt;
  const auto size = block_size(count, width);
  if (rest_.size() < 1 + size) return std::nullopt;
  BlockBytes bytes;
  std::memcpy(bytes.data(), rest_.data() + 1, size);
  std::memset(bytes.data() + size, 0, kBlockPadding);
  const auto mask = (std::uint64_t{1} << width) - 1;
  auto number = previous_;
  for (std::size_t n = 0; n < count; ++n) {
    number += static_cast<std::int64_t>((bits_at(bytes.data() + n * width / 8) >> (n * width % 8)) & mask) + 1;
    numbers_[n] = number;
  }
  if (number >= end_) return std::nullopt;
  previous_ = number;
  left_ -= static_cast<std::int64_t>(count);
  rest_ = rest_.subspan(1 + size);
  return std::span<const std::int64_t>(numbers_).first(count);
}

}  // namespace eindb
