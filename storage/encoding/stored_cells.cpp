#include "storage/encoding/stored_cells.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "common/check.hpp"
#include "storage/encoding/cell_numbers.hpp"

namespace eindb {
namespace {

/// Cells that tell whether a tile looks dense.
constexpr std::int64_t kSampledCells = 256;
/// Cells that are counted between two looks at the count.
constexpr std::int64_t kCountedCells = 4096;

/// A value of 16 bytes.
struct WideBits {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const WideBits&, const WideBits&) = default;
  friend WideBits operator|(const WideBits& a, const WideBits& b) { return {a.low | b.low, a.high | b.high}; }
};

/// Calls visit() with the bits of a value: an unsigned integer, or WideBits.
template <class Visit>
auto with_bits_of(std::size_t value_bytes, Visit&& visit) {
  switch (value_bytes) {
    case 1: return visit(std::uint8_t{});
    case 2: return visit(std::uint16_t{});
    case 4: return visit(std::uint32_t{});
    case 8: return visit(std::uint64_t{});
    default: break;
  }
  CHECK(value_bytes == sizeof(WideBits), "a value has one of five sizes");
  return visit(WideBits{});
}

template <class Bits>
Bits value_at(const std::byte* values, std::int64_t number) {
  Bits bits;
  std::memcpy(&bits, values + number * static_cast<std::int64_t>(sizeof(Bits)), sizeof(Bits));
  return bits;
}

template <class Bits>
void set_value(std::byte* values, std::int64_t number, const Bits& bits) {
  std::memcpy(values + number * static_cast<std::int64_t>(sizeof(Bits)), &bits, sizeof(Bits));
}

/// Whether so few of some cells all over the tile are zero that no format takes a quarter of its bytes.
template <class Bits>
bool looks_dense(const std::byte* values, std::int64_t cells) {
  const Bits zero{};
  std::int64_t zeros = 0;
  bool uniform = true;
  Bits one{};
  for (std::int64_t n = 0; n < kSampledCells; ++n) {
    const auto fraction = static_cast<std::uint64_t>(n) * 0x9E3779B97F4A7C15U >> 32U;
    const auto value =
        value_at<Bits>(values, static_cast<std::int64_t>(fraction * static_cast<std::uint64_t>(cells) >> 32U));
    if (value == zero) ++zeros;
    else if (one == zero) one = value;
    else uniform = uniform && value == one;
  }
  return !uniform && zeros < kSampledCells / 2;
}

struct CellCount {
  std::int64_t count = 0;
  bool is_uniform = true;
};

/// The cells that are not zero; nullopt once there are more than `most` with several values.
template <class Bits>
std::optional<CellCount> count_cells(const std::byte* values, std::int64_t cells, std::int64_t most) {
  const Bits zero{};
  Bits one{};
  CellCount out;
  for (std::int64_t begin = 0; begin < cells; begin += kCountedCells) {
    const auto end = std::min(cells, begin + kCountedCells);
    std::int64_t zeros = 0;
    for (auto n = begin; n < end; ++n) zeros += value_at<Bits>(values, n) == zero ? 1 : 0;
    const auto count = end - begin - zeros;
    out.count += count;
    if (out.is_uniform && count > 0) {
      for (auto n = begin; n < end && one == zero; ++n) one = value_at<Bits>(values, n);
      std::int64_t same = 0;
      for (auto n = begin; n < end; ++n) same += value_at<Bits>(values, n) == one ? 1 : 0;
      out.is_uniform = same == count;
    }
    if (!out.is_uniform && out.count > most) return std::nullopt;
  }
  return out;
}

/// Calls take(number, value) for each cell that is not zero.
template <class Bits, class Take>
void for_each_cell(const std::byte* values, std::int64_t cells, Take&& take) {
  static constexpr std::int64_t kTogether = 8;
  const Bits zero{};
  std::int64_t n = 0;
  for (; n + kTogether <= cells; n += kTogether) {
    Bits any{};
    for (std::int64_t m = 0; m < kTogether; ++m) any = any | value_at<Bits>(values, n + m);
    if (any == zero) continue;
    for (std::int64_t m = 0; m < kTogether; ++m) take(n + m, value_at<Bits>(values, n + m));
  }
  for (; n < cells; ++n) take(n, value_at<Bits>(values, n));
}

template <class Bits>
StoredCells gather(const std::byte* values, std::int64_t cells, const CellCount& counted) {
  const Bits zero{};
  StoredCells out;
  out.is_uniform = counted.is_uniform;
  // One place more, where what is zero is written.
  out.numbers.resize(static_cast<std::size_t>(counted.count) + 1);
  out.values.resize((counted.is_uniform ? 1 : static_cast<std::size_t>(counted.count) + 1) * sizeof(Bits));
  std::int64_t at = 0;
  for_each_cell<Bits>(values, cells, [&](std::int64_t number, const Bits& value) {
    out.numbers[static_cast<std::size_t>(at)] = static_cast<std::uint32_t>(number);
    if (!counted.is_uniform) set_value(out.values.data(), at, value);
    else if (value != zero) set_value(out.values.data(), 0, value);
    at += value == zero ? 0 : 1;
  });
  CHECK(at == counted.count, "the cells of a tile are those that were counted");
  out.numbers.pop_back();
  if (!counted.is_uniform) out.values.resize(static_cast<std::size_t>(counted.count) * sizeof(Bits));
  return out;
}

template <class Bits>
std::optional<StoredCells> cells_of(std::span<const std::byte> dense, std::int64_t cells, std::size_t most) {
  if (most < dense.size() && cells > 16 * kSampledCells && looks_dense<Bits>(dense.data(), cells)) return std::nullopt;
  const auto counted = count_cells<Bits>(dense.data(), cells, static_cast<std::int64_t>(most / sizeof(Bits)));
  return counted ? std::optional(gather<Bits>(dense.data(), cells, *counted)) : std::nullopt;
}

/// Calls take(number) for each bit that is set.
template <class Take>
void for_each_bit(std::span<const std::byte> bits, Take&& take) {
  for (std::size_t first = 0; first < bits.size(); first += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bits.data() + first, std::min(sizeof(word), bits.size() - first));
    for (; word != 0; word &= word - 1) take(static_cast<std::int64_t>(first * 8) + std::countr_zero(word));
  }
}

void set_bit(std::span<std::byte> bits, std::int64_t number) {
  bits[static_cast<std::size_t>(number / 8)] |= std::byte{1} << (number % 8);
}

/// nullopt if more than a quarter of the bits are set, but not all: their numbers take more room than bits.
std::optional<StoredCells> cells_of_bits(std::span<const std::byte> dense, std::int64_t cells, std::size_t most) {
  std::int64_t count = 0;
  for (const auto byte : dense) count += std::popcount(std::to_integer<std::uint8_t>(byte));
  if (most < dense.size() && count > cells / 4 && count < cells) return std::nullopt;
  StoredCells out{.numbers = {}, .values = {std::byte{count > 0}}, .is_uniform = true};
  out.numbers.reserve(static_cast<std::size_t>(count));
  for_each_bit(dense, [&](std::int64_t number) { out.numbers.push_back(static_cast<std::uint32_t>(number)); });
  return out;
}

std::size_t bitmap_bytes(std::int64_t all) { return static_cast<std::size_t>((all + 7) / 8); }
std::size_t values_bytes(StoredType type, const CellLayout& layout) {
  return (layout.is_uniform ? 1 : std::size_t{layout.count}) * stored_value_bytes(type);
}

/// Calls take(place, number) for the first stored cell, the second, ...: false if the bytes are not those of the
/// layout.
template <class Take>
bool for_each_number(const CellLayout& layout, std::span<const std::byte> bytes, std::int64_t all, Take&& take) {
  if (layout.format == TileFormat::Bitmap) {
    std::int64_t place = 0;
    bool fits = true;
    for_each_bit(bytes, [&](std::int64_t number) {
      fits = fits && number < all && place < layout.count;
      if (fits) take(place++, number);
    });
    return fits && place == layout.count;
  }
  PackedNumbers numbers(bytes, layout.count, all);
  for (std::int64_t place = 0;;) {
    const auto block = numbers.next();
    if (!block || block->empty()) return block.has_value();
    for (const auto number : *block) take(place++, number);
  }
}

void fill(StoredType type, std::span<const std::byte> value, std::span<std::byte> dense) {
  with_bits_of(stored_value_bytes(type), [&](auto bits) {
    bits = value_at<decltype(bits)>(value.data(), 0);
    const auto count = static_cast<std::int64_t>(dense.size() / sizeof(bits));
    for (std::int64_t n = 0; n < count; ++n) set_value(dense.data(), n, bits);
  });
}

}  // namespace

std::size_t stored_value_bytes(StoredType type) { return static_cast<std::size_t>(unit_of(type).bytes); }

bool may_be_sparse(StoredType type, std::int64_t cells) {
  return !has_scales(type.encoding) && cells > 0 && cells < std::int64_t{UINT32_MAX};
}

std::optional<StoredCells> stored_cells(StoredType type, std::span<const std::byte> dense, std::int64_t cells,
                                        std::size_t most) {
  CHECK(may_be_sparse(type, cells), "cells are taken from a tile that may be sparse");
  if (type.encoding == Encoding::Bool) return cells_of_bits(dense, cells, most);
  return with_bits_of(stored_value_bytes(type),
                      [&](auto bits) { return cells_of<decltype(bits)>(dense, cells, most); });
}

void normalize(StoredType type, StoredCells& cells) {
  const auto count = static_cast<std::int64_t>(cells.numbers.size());
  with_bits_of(stored_value_bytes(type), [&](auto bits) {
    using Bits = decltype(bits);
    std::int64_t kept = 0;
    cells.is_uniform = true;
    for (std::int64_t n = 0; n < count; ++n) {
      const auto value = value_at<Bits>(cells.values.data(), n);
      if (value == Bits{}) continue;
      cells.numbers[static_cast<std::size_t>(kept)] = cells.numbers[static_cast<std::size_t>(n)];
      set_value(cells.values.data(), kept++, value);
      cells.is_uniform = cells.is_uniform && value == value_at<Bits>(cells.values.data(), 0);
    }
    cells.numbers.resize(static_cast<std::size_t>(kept));
    cells.values.resize((cells.is_uniform ? 1 : static_cast<std::size_t>(kept)) * sizeof(Bits));
    if (kept == 0) set_value(cells.values.data(), 0, Bits{});
  });
}

SizedLayout smallest_layout(const StoredCells& cells, std::int64_t all) {
  const auto count = static_cast<std::uint32_t>(cells.numbers.size());
  SizedLayout out{.layout = {TileFormat::Constant, true, count}, .bytes = cells.values.size()};
  if (cells.is_uniform && (count == 0 || std::cmp_equal(count, all))) return out;
  const auto packed = packed_numbers_size(cells.numbers);
  const auto bitmap = bitmap_bytes(all);
  out.layout = {packed < bitmap ? TileFormat::Coordinates : TileFormat::Bitmap, cells.is_uniform, count};
  out.bytes += std::min(packed, bitmap);
  return out;
}

std::vector<std::byte> lay_out(const StoredCells& cells, std::int64_t all, const SizedLayout& sized) {
  std::vector<std::byte> out(sized.bytes);
  std::copy(cells.values.begin(), cells.values.end(), out.begin());
  const auto rest = std::span(out).subspan(cells.values.size());
  CHECK(sized.layout.format != TileFormat::Bitmap || rest.size() == bitmap_bytes(all), "a bitmap has all cells");
  if (sized.layout.format == TileFormat::Coordinates) pack_numbers(cells.numbers, rest);
  if (sized.layout.format == TileFormat::Bitmap)
    for (const auto number : cells.numbers) set_bit(rest, number);
  return out;
}

void expand(StoredType type, const StoredCells& cells, std::span<std::byte> dense) {
  std::fill(dense.begin(), dense.end(), std::byte{0});
  if (type.encoding == Encoding::Bool) {
    for (const auto number : cells.numbers) set_bit(dense, number);
    return;
  }
  with_bits_of(stored_value_bytes(type), [&](auto bits) {
    std::int64_t place = 0;
    for (const auto number : cells.numbers) {
      bits = value_at<decltype(bits)>(cells.values.data(), cells.is_uniform ? 0 : place++);
      set_value(dense.data(), number, bits);
    }
  });
}

bool expand(StoredType type, const CellLayout& layout, std::span<const std::byte> bytes, std::int64_t all,
            std::span<std::byte> dense) {
  DCHECK(may_have_layout(type, layout, all, bytes.size()), "a layout is expanded after it was verified");
  const auto values = bytes.first(values_bytes(type, layout));
  const bool is_bool = type.encoding == Encoding::Bool;
  if (is_bool && values[0] != std::byte{layout.count > 0}) return false;
  if (layout.format == TileFormat::Constant && !is_bool) {
    fill(type, values, dense);
    return true;
  }
  std::memset(dense.data(), 0, dense.size());
  if (layout.format == TileFormat::Constant) {
    if (values[0] != std::byte{0})
      for (std::int64_t n = 0; n < all; ++n) set_bit(dense, n);
    return true;
  }
  const auto numbers = bytes.subspan(values.size());
  if (is_bool)
    return for_each_number(layout, numbers, all, [&](std::int64_t, std::int64_t number) { set_bit(dense, number); });
  return with_bits_of(stored_value_bytes(type), [&](auto bits) {
    using Bits = decltype(bits);
    if (layout.is_uniform) {
      bits = value_at<Bits>(values.data(), 0);
      return for_each_number(layout, numbers, all,
                             [&](std::int64_t, std::int64_t number) { set_value(dense.data(), number, bits); });
    }
    return for_each_number(layout, numbers, all, [&](std::int64_t place, std::int64_t number) {
      set_value(dense.data(), number, value_at<Bits>(values.data(), place));
    });
  });
}

std::optional<StoredCells> unpack(StoredType type, const CellLayout& layout, std::span<const std::byte> bytes,
                                  std::int64_t all) {
  DCHECK(may_have_layout(type, layout, all, bytes.size()), "a layout is unpacked after it was verified");
  const auto values = bytes.first(values_bytes(type, layout));
  if (type.encoding == Encoding::Bool && values[0] != std::byte{layout.count > 0}) return std::nullopt;
  StoredCells out{.numbers = {}, .values = {values.begin(), values.end()}, .is_uniform = layout.is_uniform};
  out.numbers.resize(layout.count);
  if (layout.format == TileFormat::Constant) {
    std::iota(out.numbers.begin(), out.numbers.end(), std::uint32_t{0});
    return out;
  }
  const bool holds =
      for_each_number(layout, bytes.subspan(values.size()), all, [&](std::int64_t place, std::int64_t number) {
        out.numbers[static_cast<std::size_t>(place)] = static_cast<std::uint32_t>(number);
      });
  return holds ? std::optional(std::move(out)) : std::nullopt;
}

bool may_have_layout(StoredType type, const CellLayout& layout, std::int64_t all, std::size_t bytes) {
  if (!may_be_sparse(type, all) || std::cmp_greater(layout.count, all)) return false;
  const auto values = values_bytes(type, layout);
  if (type.encoding == Encoding::Bool && !layout.is_uniform) return false;
  switch (layout.format) {
    case TileFormat::Dense: break;
    case TileFormat::Constant:
      return layout.is_uniform && (layout.count == 0 || std::cmp_equal(layout.count, all)) && bytes == values;
    case TileFormat::Coordinates: return layout.count > 0 && bytes >= values + least_packed_size(layout.count);
    case TileFormat::Bitmap: return layout.count > 0 && bytes == values + bitmap_bytes(all);
  }
  return false;
}

}  // namespace eindb
