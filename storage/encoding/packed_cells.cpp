// The format of packed cells. All integers are little-endian.
//
// The row-major numbers of cells in their block are cut into segments of 2^31, as a tile's cells have numbers of 32
// bits. Each segment that has cells is there, in ascending order:
//
//     offset  size  field
//          0     8  the number s of the segment: it has the cells from s * 2^31 on
//          8     8  the bytes that follow the header
//         16     4  the count of the segment's cells, not 0
//         20     1  the number of TileFormat: not dense
//         21     1  1 if the cells have one value, else 0
//         22     2  zero
//         24        values and numbers of the cells, as in a tile of that format (tile_codec.cpp) with as many cells
//                   as the segment has numbers
//
// A block without cells has no bytes.

#include "storage/encoding/packed_cells.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/byte_order.hpp"
#include "common/check.hpp"
#include "storage/encoding/stored_cells.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kSegmentCells = std::int64_t{1} << 31U;
constexpr std::size_t kSegmentHeader = 24;

// The numbers that a segment of a block has.
std::int64_t segment_size(std::int64_t all, std::int64_t segment) {
  return std::min(kSegmentCells, all - segment * kSegmentCells);
}

void append_segment(StoredCells cells, std::int64_t segment, std::int64_t size, StoredType type,
                    std::vector<std::byte>& out) {
  normalize(type, cells);
  if (cells.numbers.empty()) return;
  const auto sized = smallest_layout(cells, size);
  const auto bytes = lay_out(cells, size, sized);
  const auto at = out.size();
  out.resize(at + kSegmentHeader);
  store_number(out, at, segment);
  store_number(out, at + 8, static_cast<std::uint64_t>(bytes.size()));
  store_number(out, at + 16, sized.layout.count);
  store_number(out, at + 20, static_cast<std::uint8_t>(sized.layout.format));
  store_number(out, at + 21, static_cast<std::uint8_t>(sized.layout.is_uniform ? 1 : 0));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

struct Segment {
  std::int64_t number = 0;
  std::int64_t size = 0;
  CellLayout layout;
  std::span<const std::byte> bytes;
};

// Calls take(segment) for each; false if the bytes are not those of segments, or take() returns false.
template <class Take>
bool for_each_segment(StoredType type, std::int64_t all, std::span<const std::byte> bytes, Take&& take) {
  for (std::int64_t next = 0; !bytes.empty();) {
    if (bytes.size() < kSegmentHeader) return false;
    Segment segment;
    segment.number = load_number<std::int64_t>(bytes, 0);
    const auto length = load_number<std::uint64_t>(bytes, 8);
    const auto format = load_number<std::uint8_t>(bytes, 20);
    const auto uniform = load_number<std::uint8_t>(bytes, 21);
    const bool may_be = segment.number >= next && all > 0 && segment.number <= (all - 1) / kSegmentCells &&
                        format > 0 && format <= static_cast<std::uint8_t>(kLastTileFormat) && uniform <= 1 &&
                        load_number<std::uint16_t>(bytes, 22) == 0 && length <= bytes.size() - kSegmentHeader;
    if (!may_be) return false;
    segment.size = segment_size(all, segment.number);
    segment.layout = {TileFormat{format}, uniform == 1, load_number<std::uint32_t>(bytes, 16)};
    segment.bytes = bytes.subspan(kSegmentHeader, static_cast<std::size_t>(length));
    if (segment.layout.count == 0 || !may_have_layout(type, segment.layout, segment.size, segment.bytes.size()))
      return false;
    if (!take(segment)) return false;
    next = segment.number + 1;
    bytes = bytes.subspan(kSegmentHeader + segment.bytes.size());
  }
  return true;
}

}  // namespace

std::vector<std::byte> pack_cells(const CellBlock& cells) {
  const StoredType type(cells.dtype());
  const auto size = size_of(cells.dtype());
  const auto all = cells.shape().element_count();
  const auto numbers = cells.numbers();
  const auto& values = cells.trie().values;
  std::vector<std::byte> out;
  for (std::size_t begin = 0; begin < numbers.size();) {
    const auto segment = numbers[begin] / kSegmentCells;
    const auto first = segment * kSegmentCells;
    StoredCells part;
    auto end = begin;
    for (; end < numbers.size() && numbers[end] - first < kSegmentCells; ++end)
      part.numbers.push_back(static_cast<std::uint32_t>(numbers[end] - first));
    part.values.assign(values.begin() + static_cast<std::ptrdiff_t>(begin * size),
                       values.begin() + static_cast<std::ptrdiff_t>(end * size));
    append_segment(std::move(part), segment, segment_size(all, segment), type, out);
    begin = end;
  }
  return out;
}

std::optional<std::int64_t> packed_cell_count(DType type, const Shape& shape, std::span<const std::byte> bytes) {
  std::int64_t count = 0;
  const bool holds = for_each_segment(StoredType(type), shape.element_count(), bytes, [&](const Segment& segment) {
    count += segment.layout.count;
    return true;
  });
  return holds ? std::optional(count) : std::nullopt;
}

std::optional<CellBlock> unpack_cells(DType type, const Shape& shape, std::span<const std::byte> bytes) {
  CHECK(CellBlock::may_have(shape), "cells are unpacked into a block that may have them");
  // All segments are looked at before room is made for the cells of the first.
  const auto count = packed_cell_count(type, shape, bytes);
  if (!count) return std::nullopt;
  const auto size = size_of(type);
  std::vector<std::int64_t> numbers;
  std::vector<std::byte> values;
  numbers.reserve(static_cast<std::size_t>(*count));
  values.reserve(static_cast<std::size_t>(*count) * size);
  const bool holds = for_each_segment(StoredType(type), shape.element_count(), bytes, [&](const Segment& segment) {
    auto cells = unpack(StoredType(type), segment.layout, segment.bytes, segment.size);
    if (!cells) return false;
    for (const auto number : cells->numbers) numbers.push_back(segment.number * kSegmentCells + number);
    if (!cells->is_uniform) {
      values.insert(values.end(), cells->values.begin(), cells->values.end());
      return true;
    }
    for (auto at = values.size(); at < numbers.size() * size; at += size)
      values.insert(values.end(), cells->values.begin(), cells->values.end());
    return true;
  });
  if (!holds) return std::nullopt;
  return CellBlock::of_numbers(type, shape, numbers, std::move(values));
}

}  // namespace eindb
