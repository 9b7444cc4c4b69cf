#pragma once

#include <algorithm>
#include <array>

#include "executor/kernels/levels/micro_kernel.hpp"

/// Products of matrices that are read in place: the tiles of micro_kernel.hpp without panels. Each element of a is
/// broadcast from memory; rows of b and c are vectors, the last of which may be partial.
namespace eindb::EINDB_LEVEL {

// One tile of every matrix of the batch.
template <class T, int kRows, int kVectors, bool kWhole>
void multiply_strided_tile(const StridedProduct& p, const T* matrix_a, const T* matrix_b, T* matrix_c,
                           std::int64_t batch, std::int64_t columns) {
  using R = Part<T>;
  // Rows are in groups of three: the processor adds one or two strides to an address, and each pointer takes a
  // register.
  constexpr int kGroup = 3;
  constexpr int kGroups = (kRows + kGroup - 1) / kGroup;
  const auto rest = columns - (kVectors - 1) * kLanes<R>;
  const auto last = [&](const R* from) __attribute__((always_inline)) {
    if constexpr (kWhole) return load(from);
    else return load_part(from, rest);
  };
  const auto factor = broadcast(static_cast<R>(static_cast<T>(p.factor)));
  // Chooses the data to prefetch evenly over the loop. If rows are contiguous: the next rows of a dense matrix, or the
  // next matrix; otherwise the next contracted indices, also of b.
  const bool contiguous = p.a_depth == 1;
  const auto next_step = contiguous ? kRows : p.a_depth;
  const auto b_ahead = contiguous || p.ahead > 0 ? p.ahead * p.b_batch : p.depth * p.b_depth;
  const auto* a = reinterpret_cast<const R*>(matrix_a);
  const auto* b = reinterpret_cast<const R*>(matrix_b);
  auto* c = reinterpret_cast<R*>(matrix_c);
  for (std::int64_t n = 0; n < batch; ++n, a += p.a_batch, b += p.b_batch, c += p.c_batch) {
    std::array<const R*, kGroups> row;
    unrolled<kGroups>([&](auto g) __attribute__((always_inline)) {
      row[g] = a + g * kGroup * p.a_row;
      __builtin_prefetch(row[g] + p.ahead * p.a_batch);
      __builtin_prefetch(c + g * kGroup * p.c_row + p.ahead * p.c_batch, 1);
    });
    const auto* next = a + (contiguous ? kRows * p.a_row : p.depth * p.a_depth);
    const auto* v = b;
    Sums<R, kRows, kVectors> sums{};
    for (std::int64_t d = 0; d < p.depth; ++d, v += p.b_depth, next += next_step) {
      __builtin_prefetch(next);
      __builtin_prefetch(v + b_ahead);
      if constexpr (kVectors > 1) __builtin_prefetch(v + b_ahead + (kVectors - 1) * kLanes<R>);
      std::array<Vector<R>, kVectors> y;
      unrolled<kVectors>([&](auto j) __attribute__((always_inline)) {
        if constexpr (j + 1 < kVectors) y[j] = load(v + j * kLanes<R>);
        else y[j] = last(v + j * kLanes<R>);
      });
      unrolled<kRows>([&](auto i) __attribute__((always_inline)) {
        const auto x = broadcast(row[i / kGroup][i % kGroup * p.a_row]);
        unrolled<kVectors>([&](auto j) __attribute__((always_inline)) { sums[i][j] += x * y[j]; });
      });
      unrolled<kGroups>([&](auto g) __attribute__((always_inline)) { row[g] += p.a_depth; });
    }
    unrolled<kRows>([&](auto i) __attribute__((always_inline)) {
      unrolled<kVectors>([&](auto j) __attribute__((always_inline)) {
        auto* to = c + i * p.c_row + j * kLanes<R>;
        auto value = sums[i][j] * factor;
        if constexpr (j + 1 < kVectors || kWhole) {
          if (p.add) value += load(to);
          store(to, value);
        } else {
          if (p.add) value += load_part(to, rest);
          store_part(to, value, rest);
        }
      });
    });
  }
}

/// Indexed by [whole][vectors - 1][rows - 1].
template <class T>
constexpr auto strided_tiles() {
  using Tile = void (*)(const StridedProduct&, const T*, const T*, T*, std::int64_t, std::int64_t);
  std::array<std::array<std::array<Tile, kTileRows>, kTileVectors>, 2> tiles{};
  unrolled<kTileRows>([&](auto i) {
    unrolled<kTileVectors>([&](auto j) {
      tiles[0][j][i] = multiply_strided_tile<T, i + 1, j + 1, false>;
      tiles[1][j][i] = multiply_strided_tile<T, i + 1, j + 1, true>;
    });
  });
  return tiles;
}

template <class T>
void multiply_strided(const StridedProduct& p, const void* a, const void* b, void* c) {
  static constexpr auto kTiles = strided_tiles<T>();
  constexpr std::int64_t kWide = kTileVectors * kLanes<T>;
  const auto tiles = (p.rows + kTileRows - 1) / kTileRows;
  const auto height = (p.rows + tiles - 1) / tiles;
  // A matrix of several tiles is completed before the next one, so that its operands stay in the first-level cache.
  const bool single = tiles == 1 && p.columns <= kWide;
  const auto step = single ? p.batch : 1;
  for (std::int64_t n = 0; n < p.batch; n += step) {
    for (std::int64_t i = 0; i < p.rows; i += height) {
      const auto rows = std::min(height, p.rows - i);
      for (std::int64_t j = 0; j < p.columns; j += kWide) {
        const auto columns = std::min(kWide, p.columns - j);
        const auto vectors = (columns + kLanes<T> - 1) / kLanes<T>;
        const auto whole = static_cast<std::size_t>(columns % kLanes<T> == 0);
        kTiles[whole][static_cast<std::size_t>(vectors - 1)][static_cast<std::size_t>(rows - 1)](
            p, static_cast<const T*>(a) + n * p.a_batch + i * p.a_row,
            static_cast<const T*>(b) + n * p.b_batch + j / kWide * p.b_panel,
            static_cast<T*>(c) + n * p.c_batch + i * p.c_row + j, step, columns);
      }
    }
  }
}

}  // namespace eindb::EINDB_LEVEL
