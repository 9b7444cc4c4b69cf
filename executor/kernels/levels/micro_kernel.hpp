#pragma once

#include <array>

#include "executor/kernels/level_table.hpp"
#include "executor/kernels/levels/vectors.hpp"

/// The inner loop of matrix products: computes one tile of the result in registers over all contracted indices.
///
///     sum[i][j] += s[p][i] * v[p][j]      for each p: kVectors vectors of v are loaded, each s[p][i] is broadcast
///
/// A tile of 14 x 2 vectors takes 28 of AVX-512's 32 registers for sums, 2 for v and 1 for the broadcast.
///
/// Complex numbers use the same loop as pairs of real numbers. With s = a + bi, and v = c + di stored as (c, d), the
/// rows of a and of b give (ac, ad) and (bc, bd); the result (ac - bd, ad + bc) is assembled when the tile is written.
namespace eindb::EINDB_LEVEL {

template <class T>
struct PartType {
  using type = T;
  static constexpr int kCount = 1;
};
template <class R>
struct PartType<std::complex<R>> {
  using type = R;
  static constexpr int kCount = 2;
};
template <>
struct PartType<std::int64_t> {
  using type = std::uint64_t;  // wraps
  static constexpr int kCount = 1;
};
/// The real type that T consists of, and the number of its parts.
template <class T>
using Part = typename PartType<T>::type;
template <class T>
inline constexpr int kParts = PartType<T>::kCount;

/// The largest tile: rows, in parts, by vectors.
#if defined(__AVX512F__)
inline constexpr int kTileRows = 14;
#elif defined(__AVX2__)
inline constexpr int kTileRows = 6;
#else
inline constexpr int kTileRows = 4;
#endif
inline constexpr int kTileVectors = 2;
template <class T>
inline constexpr std::int64_t kTileColumns = kTileVectors* kLanes<Part<T>> / kParts<T>;

template <class R, int kRows, int kVectors>
using Sums = std::array<std::array<Vector<R>, kVectors>, kRows>;

template <class T>
Part<T> factor_of(const ProductTile& tile) {
  if constexpr (std::is_integral_v<T>) return static_cast<Part<T>>(static_cast<T>(tile.factor));
  else return static_cast<Part<T>>(tile.factor);
}

// A tile's sums in memory: row-major, with kTileVectors vectors per row.
template <class R>
inline constexpr std::int64_t kSumsInRow = kTileVectors* kLanes<R>;

// Writes run by run. Cells of several rows are loaded before the first of them is stored: a load waits for an
// unfinished masked store even if it overlaps only with masked-out elements.
template <class T>
[[gnu::noinline]] void write_runs(const T* sums, int rows, T factor_value, const ProductTile& tile) {
  constexpr int kTogether = 8;
  const auto factor = broadcast(factor_value);
  for (std::int64_t j = 0; j < tile.column_count; j += tile.runs[j]) {
    const std::int64_t run = tile.runs[j];
    auto* column = static_cast<T*>(tile.data) + tile.columns[j];
    for (int begin = 0; begin < rows; begin += kTogether) {
      std::array<Vector<T>, kTogether> values;
      const auto for_each_row = [&](const auto& body) __attribute__((always_inline)) {
        unrolled<kTogether>([&](auto i) __attribute__((always_inline)) {
          if (begin + i < rows) body(values[i], begin + i);
        });
      };
      for_each_row([&](Vector<T> & value, int i) __attribute__((always_inline)) {
        value = load_part(sums + i * kSumsInRow<T> + j, run) * factor;
        if (tile.add) value += load_part(column + tile.rows[i], run);
      });
      for_each_row([&](const Vector<T>& value, int i)
                       __attribute__((always_inline)) { store_part(column + tile.rows[i], value, run); });
    }
  }
}

// Writes elements one by one, from rows of parts.
template <class T>
[[gnu::noinline]] void write_scattered(const Part<T>* sums, int rows, const ProductTile& tile) {
  static_assert(kParts<T> == 2);
  constexpr auto kRow = kSumsInRow<Part<T>>;
  const auto factor = factor_of<T>(tile);
  for (int i = 0; i < rows; ++i, sums += kRow * kParts<T>) {
    auto* to = static_cast<T*>(tile.data) + tile.rows[i];
    for (std::int64_t j = 0; j < tile.column_count; ++j) {
      auto& cell = to[tile.columns == nullptr ? j : tile.columns[j]];
      const T value(factor * (sums[2 * j] - sums[kRow + 2 * j + 1]), factor * (sums[2 * j + 1] + sums[kRow + 2 * j]));
      cell = tile.add ? cell + value : value;
    }
  }
}

// Writes whole vectors of contiguous columns; of the last vector only the elements that are columns.
template <class T, int kRows, int kVectors>
[[gnu::always_inline]] inline void write_vectors(const Sums<T, kRows, kVectors>& sums, T factor_value,
                                                 const ProductTile& tile) {
  const auto factor = broadcast(factor_value);
  const auto rest = tile.column_count - (kVectors - 1) * kLanes<T>;
  const bool whole = rest == kLanes<T>;
  std::array<T*, kVectors> columns;
  unrolled<kVectors>([&](auto j) __attribute__((always_inline)) {
    const auto first = j * kLanes<T>;
    columns[j] = static_cast<T*>(tile.data) + (tile.columns == nullptr ? first : tile.columns[first]);
  });
  unrolled<kRows>([&](auto i) __attribute__((always_inline)) {
    unrolled<kVectors>([&](auto j) __attribute__((always_inline)) {
      auto* cells = columns[j] + tile.rows[i];
      auto value = sums[i][j] * factor;
      if (whole || j + 1 < kVectors) {
        if (tile.add) value += load(cells);
        store(cells, value);
      } else {
        if (tile.add) value += load_part(cells, rest);
        store_part(cells, value, rest);
      }
    });
  });
}

template <class T, int kRows, int kVectors>
[[gnu::always_inline]] inline void write(const Sums<Part<T>, kRows, kVectors>& sums, const ProductTile& tile) {
  using R = Part<T>;
  if constexpr (kParts<T> == 1) {
    if (tile.runs == nullptr) return write_vectors<R, kRows, kVectors>(sums, factor_of<T>(tile), tile);
  }
  alignas(kVectorBytes) R buffer[static_cast<std::size_t>(kRows * kSumsInRow<R>)];
  unrolled<kRows>([&](auto i) __attribute__((always_inline)) {
    unrolled<kVectors>([&](auto j) __attribute__((always_inline)) {
      store(buffer + i * kSumsInRow<R> + j * kLanes<R>, sums[i][j]);
    });
  });
  if constexpr (kParts<T> == 1) write_runs<R>(buffer, kRows, factor_of<T>(tile), tile);
  else write_scattered<T>(buffer, kRows / kParts<T>, tile);
}

// Prefetches the cells for writing while the products are summed.
template <class T, int kRows, int kVectors>
[[gnu::always_inline]] inline void prefetch(const ProductTile& tile) {
  const auto* data = static_cast<const T*>(tile.data);
  if (tile.columns == nullptr) {
    for (int i = 0; i < kRows; ++i) {
      const auto* row = reinterpret_cast<const std::byte*>(data + tile.rows[i]);
      for (int j = 0; j < kVectors; ++j) __builtin_prefetch(row + j * kVectorBytes, 1);
      __builtin_prefetch(row + kVectors * kVectorBytes - 1, 1);
    }
  } else {
    for (std::int64_t j = 0; j < tile.column_count; j += tile.runs == nullptr ? kLanes<Part<T>> : tile.runs[j])
      for (int i = 0; i < kRows; ++i) __builtin_prefetch(data + tile.rows[i] + tile.columns[j], 1);
  }
}

// Panels are prefetched from the second-level cache kAhead steps before their use; at the end of a panel this fetches
// the next one. Operands read in place come from farther away, with the next tiles beside the current one: they are
// prefetched kTilesAhead tiles before their use.
inline constexpr int kAhead = 12;
inline constexpr int kTilesAhead = 2;

template <class T, int kRows, int kVectors>
void multiply_tile(std::int64_t depth, const void* s_panel, const void* v_panel, std::int64_t v_step,
                   const ProductTile& tile) {
  using R = Part<T>;
  const auto* s = static_cast<const R*>(s_panel);
  const auto* v = static_cast<const R*>(v_panel);
  v_step *= kParts<T>;
  prefetch<T, kRows / kParts<T>, kVectors>(tile);
  const bool packed = v_step == kTileVectors * kLanes<R>;
  const auto ahead = packed ? kAhead * v_step : kTilesAhead * kTileVectors * kLanes<R>;
  Sums<R, kRows, kVectors> sums{};
  for (std::int64_t p = 0; p < depth; ++p, s += kRows, v += v_step) {
    __builtin_prefetch(s + kAhead * kRows);
    unrolled<kVectors>([&](auto j) __attribute__((always_inline)) { __builtin_prefetch(v + ahead + j * kLanes<R>); });
    std::array<Vector<R>, kVectors> b;
    unrolled<kVectors>([&](auto j) __attribute__((always_inline)) { b[j] = load(v + j * kLanes<R>); });
    unrolled<kRows>([&](auto i) __attribute__((always_inline)) {
      const auto a = broadcast(s[i]);
      unrolled<kVectors>([&](auto j) __attribute__((always_inline)) { sums[i][j] += a * b[j]; });
    });
  }
  write<T, kRows, kVectors>(sums, tile);
}

using MultiplyTile = void (*)(std::int64_t depth, const void* s_panel, const void* v_panel, std::int64_t v_step,
                              const ProductTile& tile);

/// Indexed by [vectors - 1][rows - 1].
template <class T>
constexpr auto tile_kernels() {
  constexpr int kMost = kTileRows / kParts<T>;
  std::array<std::array<MultiplyTile, kMost>, kTileVectors> kernels{};
  unrolled<kMost>([&](auto i) {
    kernels[0][i] = multiply_tile<T, (i + 1) * kParts<T>, 1>;
    kernels[1][i] = multiply_tile<T, (i + 1) * kParts<T>, 2>;
  });
  return kernels;
}

template <class T>
void multiply_panels(std::int64_t rows, std::int64_t depth, const void* s_panel, const void* v_panel,
                     std::int64_t v_step, const ProductTile& tile) {
  static constexpr auto kKernels = tile_kernels<T>();
  const bool narrow = tile.column_count * kParts<T> <= kLanes<Part<T>>;
  kKernels[narrow ? 0 : 1][static_cast<std::size_t>(rows - 1)](depth, s_panel, v_panel, v_step, tile);
}

}  // namespace eindb::EINDB_LEVEL
