// The blocks of ggml's ggml-quants.c, whose numbers are little-endian; d and m are binary16, by which scales and minima
// are scaled:
//
//     Q4_K  d m  scales:12  low:128             a part is d * scale * low - m * minimum, of 32 cells
//     Q5_K  d m  scales:12  high:32  low:128    the same, with a fifth bit of each cell in `high`
//     Q6_K  low:128  high:64  scales:16  d      a part is d * scale * (low + 16 * high - 32), of 16 cells
//
// The 8 scales and 8 minima of the first two have 6 bits each: of the first four in the lower bits of bytes 0 to 3 and
// 4 to 7, of the last four with 4 bits in bytes 8 to 11 and two in the upper bits of bytes 0 to 7.

#include "storage/formats/k_quants.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "common/check.hpp"
#include "tensor/small_float.hpp"

namespace eindb {
namespace {

constexpr std::size_t kCells = 256;
using Bytes = std::span<const std::uint8_t>;

float half_at(Bytes block, std::size_t at) {
  return widen(Half{static_cast<std::uint16_t>(block[at] | block[at + 1] << 8U)});
}

struct ScaleAndMinimum {
  float scale;
  float minimum;
};

ScaleAndMinimum part_of(Bytes scales, std::size_t part) {
  unsigned scale = scales[part] & 63U;
  unsigned minimum = scales[part + 4] & 63U;
  if (part >= 4) {
    scale = (scales[part + 4] & 15U) | (scales[part - 4] >> 6U) << 4U;
    minimum = scales[part + 4] >> 4U | (scales[part] >> 6U) << 4U;
  }
  return {static_cast<float>(scale), static_cast<float>(minimum)};
}

// Q4_K, and Q5_K where there are fifth bits.
void decode_by_scales(Bytes block, Bytes fifth_bits, Bytes low, std::span<float> values) {
  const auto d = half_at(block, 0);
  const auto m = half_at(block, 2);
  const auto scales = block.subspan(4, 12);
  constexpr std::size_t kPart = 32;
  for (std::size_t part = 0; part < kCells / kPart; ++part) {
    const auto [scale, minimum] = part_of(scales, part);
    const auto factor = d * scale;
    const auto offset = m * minimum;
    for (std::size_t n = 0; n < kPart; ++n) {
      const unsigned pair = low[part / 2 * kPart + n];
      unsigned level = part % 2 == 0 ? pair & 15U : pair >> 4U;
      if (!fifth_bits.empty()) level |= (fifth_bits[n] >> part & 1U) << 4U;
      values[part * kPart + n] = factor * static_cast<float>(level) - offset;
    }
  }
}

void decode_q6(Bytes block, std::span<float> values) {
  const auto d = half_at(block, 208);
  constexpr std::size_t kHalf = 128;
  for (std::size_t n = 0; n < kCells; ++n) {
    const auto half = n / kHalf;
    const auto quarter = n % kHalf / 32;
    const auto column = n % 32;
    const unsigned pair = block[half * 64 + quarter % 2 * 32 + column];
    const unsigned low = quarter < 2 ? pair & 15U : pair >> 4U;
    const unsigned high = block[kHalf + half * 32 + column] >> (2 * quarter) & 3U;
    const auto level = static_cast<int>(low | high << 4U) - 32;
    const auto scale = std::bit_cast<std::int8_t>(block[192 + half * 8 + quarter * 2 + column / 16]);
    values[n] = d * static_cast<float>(scale) * static_cast<float>(level);
  }
}

}  // namespace

EncodingUnit unit_of(KQuant type) {
  switch (type) {
    case KQuant::Q4K: return {kCells, 144};
    case KQuant::Q5K: return {kCells, 176};
    case KQuant::Q6K: return {kCells, 210};
  }
  return {};
}

void decode_blocks(KQuant type, std::span<const std::byte> source, std::span<float> values) {
  const auto bytes = static_cast<std::size_t>(unit_of(type).bytes);
  CHECK(source.size() % bytes == 0 && source.size() / bytes * kCells == values.size(),
        "blocks are decoded as wholes, into as many values");
  std::array<std::uint8_t, 210> buffer{};
  for (std::size_t n = 0; n < source.size() / bytes; ++n) {
    std::memcpy(buffer.data(), source.data() + n * bytes, bytes);
    const auto block = Bytes(buffer).first(bytes);
    const auto cells = values.subspan(n * kCells, kCells);
    switch (type) {
      case KQuant::Q4K: decode_by_scales(block, {}, block.subspan(16), cells); break;
      case KQuant::Q5K: decode_by_scales(block, block.subspan(16, 32), block.subspan(48), cells); break;
      case KQuant::Q6K: decode_q6(block, cells); break;
    }
  }
}

}  // namespace eindb
