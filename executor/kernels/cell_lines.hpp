#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace eindb {

/// Calls `function` with a value of an unsigned type of 4 or 8 bytes, or of an array for 16.
template <class Function>
void with_bits_of(std::size_t size, Function function) {
  if (size == 4) function(std::uint32_t{});
  else if (size == 8) function(std::uint64_t{});
  else function(std::array<std::uint64_t, 2>{});
}

/// The value, or zero, without a branch: which it is cannot be predicted.
template <class Bits>
Bits bits_if(bool holds, Bits value) {
  if constexpr (std::is_integral_v<Bits>) return value & (Bits{0} - static_cast<Bits>(holds));
  else return {bits_if(holds, value[0]), bits_if(holds, value[1])};
}

/// The nodes of one trie that are left of a line of cells.
template <class Bits>
struct CellLine {
  const std::uint32_t* coordinates;
  const Bits* values;
  std::int64_t at;
  std::int64_t end;
};

/// Merges the lines of two tries into columns of at most `most` points; returns how many there are. Each coordinate is
/// written as number_of(coordinate).
template <class A, class B, class Cell, class NumberOf>
std::int64_t merge_cell_lines(CellLine<A>& a, CellLine<B>& b, std::int64_t most, Cell* cells, const NumberOf& number_of,
                              A* a_values, B* b_values) {
  std::int64_t count = 0;
  auto i = a.at;
  auto j = b.at;
  for (; i < a.end && j < b.end && count < most; ++count) {
    const auto x = a.coordinates[i];
    const auto y = b.coordinates[j];
    cells[count] = number_of(std::min(x, y));
    a_values[count] = bits_if(x <= y, a.values[i]);
    b_values[count] = bits_if(y <= x, b.values[j]);
    i += static_cast<std::int64_t>(x <= y);
    j += static_cast<std::int64_t>(y <= x);
  }
  if (j == b.end) {
    const auto rest = std::min(a.end - i, most - count);
    for (std::int64_t n = 0; n < rest; ++n) cells[count + n] = number_of(a.coordinates[i + n]);
    std::copy_n(a.values + i, rest, a_values + count);
    std::fill_n(b_values + count, rest, B{});
    i += rest;
    count += rest;
  }
  if (i == a.end) {
    const auto rest = std::min(b.end - j, most - count);
    for (std::int64_t n = 0; n < rest; ++n) cells[count + n] = number_of(b.coordinates[j + n]);
    std::fill_n(a_values + count, rest, A{});
    std::copy_n(b.values + j, rest, b_values + count);
    j += rest;
    count += rest;
  }
  a.at = i;
  b.at = j;
  return count;
}

}  // namespace eindb
