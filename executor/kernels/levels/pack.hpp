#pragma once

#include <Eigen/Core>
#include <algorithm>

#include "executor/kernels/levels/micro_kernel.hpp"
#include "executor/kernels/levels/move.hpp"
#include "executor/kernels/levels/square.hpp"

/// Fills the panels of matrix products directly from strided tensors, see PanelTable.
namespace eindb::EINDB_LEVEL {

inline constexpr std::int64_t kBytesAhead = 1024;

template <int kRun, class To, class From>
void copy_fixed(To* to, std::int64_t to_step, const From* from, const std::int64_t* from_offsets, std::int64_t count) {
  constexpr auto kAheadRuns = std::max<std::int64_t>(8, kBytesAhead / static_cast<std::int64_t>(kRun * sizeof(From)));
  for (std::int64_t p = 0; p < count; ++p, to += to_step) {
    const auto* in = from + from_offsets[p];
    const auto* next = from + from_offsets[std::min(p + kAheadRuns, count - 1)];
    __builtin_prefetch(next);
    __builtin_prefetch(next + kRun - 1);
    if constexpr (std::is_same_v<To, From>) {
      std::memcpy(to, in, kRun * sizeof(To));
    } else {
      for (int t = 0; t < kRun; ++t) to[t] = converted<To>(in[t]);
    }
  }
}

template <class To, class From, int... kRuns>
constexpr auto copies_of_runs(std::integer_sequence<int, kRuns...>) {
  return std::array{copy_fixed<kRuns + 1, To, From>...};
}

template <class To, class From>
void copy_runs(void* target, std::int64_t to_step, const void* source, const std::int64_t* from_offsets,
               std::int64_t count, std::int64_t run) {
  auto* to = static_cast<To*>(target);
  const auto* from = static_cast<const From*>(source);
  constexpr int kColumns = static_cast<int>(kTileColumns<To>);
  if (run == kColumns) return copy_fixed<kColumns>(to, to_step, from, from_offsets, count);
  if constexpr (std::is_same_v<To, From>) {
    constexpr int kRows = kTileRows / kParts<To>;
    constexpr int kVector = kColumns / kTileVectors;
    if constexpr (kVector > kRows)
      if (run == kVector) return copy_fixed<kVector>(to, to_step, from, from_offsets, count);
    static constexpr auto kCopies = copies_of_runs<To, From>(std::make_integer_sequence<int, kRows>{});
    if (run <= kRows) return kCopies[static_cast<std::size_t>(run - 1)](to, to_step, from, from_offsets, count);
  }
  for (std::int64_t p = 0; p < count; ++p, to += to_step) {
    const auto* in = from + from_offsets[p];
    for (std::int64_t t = 0; t < run; ++t) to[t] = converted<To>(in[t]);
  }
}

// Far enough ahead that cache lines arrive from memory before their use.
inline constexpr int kSquaresAhead = 4;

// At most one square: `rows` source rows at `from_offsets`, `columns` target rows at `to_offsets`.
template <class Lane>
[[gnu::always_inline]] inline void transpose_whole(Lane* to, const std::int64_t* to_offsets, const Lane* from,
                                                   const std::int64_t* from_offsets) {
  constexpr int kSide = Square<Lane>::kSide;
  Square<Lane> square;
  unrolled<kSide>([&](auto r) __attribute__((always_inline)) {
    square.set(r, load(from + from_offsets[r]));
    __builtin_prefetch(from + from_offsets[r] + kSquaresAhead * kSide);
  });
  square.transpose();
  unrolled<kSide>([&](auto c) __attribute__((always_inline)) { store(to + to_offsets[c], square.get(c)); });
}
template <class Lane>
void transpose_part(Lane* to, const std::int64_t* to_offsets, const Lane* from, const std::int64_t* from_offsets,
                    std::int64_t rows, std::int64_t columns) {
  constexpr int kSide = Square<Lane>::kSide;
  Square<Lane> square;
  if (columns == kSide) {
    unrolled<kSide>([&](auto r) __attribute__((always_inline)) {
      square.set(r, load(from + from_offsets[std::min<std::int64_t>(r, rows - 1)]));
      if (r < rows) __builtin_prefetch(from + from_offsets[r] + kSquaresAhead * kSide);
    });
  } else {
    unrolled<kSide>([&](auto r) __attribute__((always_inline)) {
      square.set(r, load_part(from + from_offsets[std::min<std::int64_t>(r, rows - 1)], columns));
      if (r < rows) __builtin_prefetch(from + from_offsets[r] + kSquaresAhead * kSide);
    });
  }
  square.transpose();
  if (rows == kSide) {
    unrolled<kSide>([&](auto c) __attribute__((always_inline)) {
      if (c < columns) store(to + to_offsets[c], square.get(c));
    });
  } else if (rows == kTileRows % kSide && columns == kSide) {
    unrolled<kSide>([&](auto c) __attribute__((always_inline)) {
      store_part(to + to_offsets[c], square.get(c), kTileRows % kSide);
    });
  } else {
    unrolled<kSide>([&](auto c) __attribute__((always_inline)) {
      if (c < columns) store_part(to + to_offsets[c], square.get(c), rows);
    });
  }
}

// In squares of 16 bytes per side; the remainder element by element.
template <class Lane>
void transpose_small(Lane* to, const std::int64_t* to_offsets, const Lane* from, const std::int64_t* from_offsets,
                     std::int64_t rows, std::int64_t columns) {
  using Packet = std::conditional_t<sizeof(Lane) == 4, Eigen::internal::Packet4f, Eigen::internal::Packet2d>;
  constexpr std::int64_t kSide = 16 / sizeof(Lane);
  const auto whole_rows = rows / kSide * kSide;
  const auto whole_columns = columns / kSide * kSide;
  for (std::int64_t r = 0; r < whole_rows; r += kSide) {
    for (std::int64_t c = 0; c < whole_columns; c += kSide) {
      Eigen::internal::PacketBlock<Packet, kSide> block;
      unrolled<kSide>([&](auto n) __attribute__((always_inline)) {
        block.packet[n] = Eigen::internal::ploadu<Packet>(from + from_offsets[r + n] + c);
      });
      Eigen::internal::ptranspose(block);
      unrolled<kSide>([&](auto n) __attribute__((always_inline)) {
        Eigen::internal::pstoreu(to + to_offsets[c + n] + r, block.packet[n]);
      });
    }
  }
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t r = c < whole_columns ? whole_rows : 0; r < rows; ++r)
      to[to_offsets[c] + r] = from[from_offsets[r] + c];
}

// Partial squares are worthwhile if there are masks and the part is not small.
template <class Lane>
void transpose_squares(Lane* to, const std::int64_t* to_offsets, const Lane* from, const std::int64_t* from_offsets,
                       std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kSide = Square<Lane>::kSide;
#if defined(__AVX512F__)
  constexpr std::int64_t kSmall = kSide / 4;
#else
  constexpr std::int64_t kSmall = kSide - 1;
#endif
  for (std::int64_t c = 0; c < columns; c += kSide) {
    const auto width = std::min(kSide, columns - c);
    for (std::int64_t r = 0; r < rows; r += kSide) {
      const auto height = std::min(kSide, rows - r);
      auto* target = to + r;
      const auto* source = from + c;
      if (height == kSide && width == kSide) transpose_whole(target, to_offsets + c, source, from_offsets + r);
      else if (std::min(height, width) <= kSmall)
        transpose_small(target, to_offsets + c, source, from_offsets + r, height, width);
      else transpose_part(target, to_offsets + c, source, from_offsets + r, height, width);
    }
  }
}

template <class To, class From>
void transpose_runs(void* target, const std::int64_t* to_offsets, const void* source, const std::int64_t* from_offsets,
                    std::int64_t rows, std::int64_t columns) {
  if constexpr (std::is_same_v<To, From> && sizeof(To) <= 8) {
    using Lane = std::conditional_t<sizeof(To) == 4, float, double>;
    transpose_squares(static_cast<Lane*>(target), to_offsets, static_cast<const Lane*>(source), from_offsets, rows,
                      columns);
  } else {
    constexpr std::int64_t kBlock = 8;
    auto* to = static_cast<To*>(target);
    const auto* from = static_cast<const From*>(source);
    for (std::int64_t c0 = 0; c0 < columns; c0 += kBlock)
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = c0; c < std::min(c0 + kBlock, columns); ++c)
          to[to_offsets[c] + r] = converted<To>(from[from_offsets[r] + c]);
  }
}

template <class To, class From>
void gather(void* target, std::int64_t to_step, const void* source, const std::int64_t* row_offsets,
            const std::int64_t* column_offsets, std::int64_t rows, std::int64_t columns) {
  auto* to = static_cast<To*>(target);
  const auto* from = static_cast<const From*>(source);
  for (std::int64_t c = 0; c < columns; ++c, to += to_step)
    for (std::int64_t r = 0; r < rows; ++r) to[r] = converted<To>(from[row_offsets[r] + column_offsets[c]]);
}

template <class To>
PanelTable panel_table() {
  PanelTable table{};
  table.rows = kTileRows / kParts<To>;
  table.columns = kTileColumns<To>;
  table.vector = kLanes<Part<To>> / kParts<To>;
  table.multiply = multiply_panels<To>;
  const auto fill = [&]<class From>(DType type, From) {
    table.packing[slot_of(type)] = {copy_runs<To, From>, transpose_runs<To, From>, gather<To, From>};
  };
  fill(DType::Float32, float{});
  fill(DType::Float64, double{});
  fill(DType::Complex64, std::complex<float>{});
  fill(DType::Complex128, std::complex<double>{});
  fill(DType::Int64, std::int64_t{});
  return table;
}

}  // namespace eindb::EINDB_LEVEL
