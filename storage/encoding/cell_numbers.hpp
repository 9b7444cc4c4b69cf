#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace eindb {

/// Numbers of cells in a tile, strictly ascending, as they are stored: the gaps between them, in blocks of 128 (the
/// last has what is left), each block with a byte for the bits of its largest gap, then that many bits per gap, lowest
/// first. A gap is the count of numbers that are left out before one. Example: 3, 4, 9 has the gaps 3, 0, 4, which take
/// 3 bits: the bytes 3, 0x03, 0x01.
inline constexpr std::size_t kNumbersPerBlock = 128;

std::size_t packed_numbers_size(std::span<const std::uint32_t> numbers);
/// The fewest bytes that so many packed numbers take.
inline std::size_t least_packed_size(std::size_t count) { return (count + kNumbersPerBlock - 1) / kNumbersPerBlock; }
/// `target` has packed_numbers_size() bytes.
void pack_numbers(std::span<const std::uint32_t> numbers, std::span<std::byte> target);

/// Reads packed numbers block by block. The bytes may hold anything.
class PackedNumbers {
 public:
  /// `count` numbers below `end` are in `bytes`, which must live as long.
  PackedNumbers(std::span<const std::byte> bytes, std::int64_t count, std::int64_t end)
      : rest_(bytes), left_(count), end_(end) {}

  /// The next block, valid until the next call and ascending; empty after the last number, nullopt if the bytes are not
  /// those of such numbers. Bytes behind the last number are not.
  std::optional<std::span<const std::int64_t>> next();

 private:
  std::span<const std::byte> rest_;
  std::int64_t left_;
  std::int64_t end_;
  std::int64_t previous_ = -1;
  std::array<std::int64_t, kNumbersPerBlock> numbers_{};
};

}  // namespace eindb
