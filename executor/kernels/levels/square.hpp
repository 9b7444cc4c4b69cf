#pragma once

#include <Eigen/Core>

#include "executor/kernels/levels/vectors.hpp"

/// Square blocks with one vector per row, transposed in registers.
namespace eindb::EINDB_LEVEL {

#if defined(__AVX512F__)
// In three steps: pairs of rows, pairs of pairs, and the 128-bit lanes of the results.
[[gnu::always_inline]] inline void transpose_lanes(__m512* row) {
  __m512 t[16];
  unrolled<4>([&](auto q) __attribute__((always_inline)) {
    const auto a = _mm512_unpacklo_ps(row[4 * q], row[4 * q + 1]);
    const auto b = _mm512_unpackhi_ps(row[4 * q], row[4 * q + 1]);
    const auto c = _mm512_unpacklo_ps(row[4 * q + 2], row[4 * q + 3]);
    const auto d = _mm512_unpackhi_ps(row[4 * q + 2], row[4 * q + 3]);
    const auto pairs = [](__m512 x, __m512 y, auto high) __attribute__((always_inline)) {
      const auto u = _mm512_castps_pd(x);
      const auto v = _mm512_castps_pd(y);
      return _mm512_castpd_ps(high ? _mm512_unpackhi_pd(u, v) : _mm512_unpacklo_pd(u, v));
    };
    t[4 * q] = pairs(a, c, std::false_type{});
    t[4 * q + 1] = pairs(a, c, std::true_type{});
    t[4 * q + 2] = pairs(b, d, std::false_type{});
    t[4 * q + 3] = pairs(b, d, std::true_type{});
  });
  // Now lane g of t[4 q + c] is column 4 g + c of rows 4 q to 4 q + 3.
  unrolled<4>([&](auto c) __attribute__((always_inline)) {
    const auto even_low = _mm512_shuffle_f32x4(t[c], t[4 + c], 0x88);
    const auto odd_low = _mm512_shuffle_f32x4(t[c], t[4 + c], 0xdd);
    const auto even_high = _mm512_shuffle_f32x4(t[8 + c], t[12 + c], 0x88);
    const auto odd_high = _mm512_shuffle_f32x4(t[8 + c], t[12 + c], 0xdd);
    row[c] = _mm512_shuffle_f32x4(even_low, even_high, 0x88);
    row[4 + c] = _mm512_shuffle_f32x4(odd_low, odd_high, 0x88);
    row[8 + c] = _mm512_shuffle_f32x4(even_low, even_high, 0xdd);
    row[12 + c] = _mm512_shuffle_f32x4(odd_low, odd_high, 0xdd);
  });
}

[[gnu::always_inline]] inline void transpose_lanes(__m512d* row) {
  __m512d t[8];
  unrolled<4>([&](auto q) __attribute__((always_inline)) {
    t[2 * q] = _mm512_unpacklo_pd(row[2 * q], row[2 * q + 1]);
    t[2 * q + 1] = _mm512_unpackhi_pd(row[2 * q], row[2 * q + 1]);
  });
  // Now lane g of t[2 q + c] is column 2 g + c of rows 2 q and 2 q + 1.
  unrolled<2>([&](auto c) __attribute__((always_inline)) {
    const auto even_low = _mm512_shuffle_f64x2(t[c], t[2 + c], 0x88);
    const auto odd_low = _mm512_shuffle_f64x2(t[c], t[2 + c], 0xdd);
    const auto even_high = _mm512_shuffle_f64x2(t[4 + c], t[6 + c], 0x88);
    const auto odd_high = _mm512_shuffle_f64x2(t[4 + c], t[6 + c], 0xdd);
    row[c] = _mm512_shuffle_f64x2(even_low, even_high, 0x88);
    row[2 + c] = _mm512_shuffle_f64x2(odd_low, odd_high, 0x88);
    row[4 + c] = _mm512_shuffle_f64x2(even_low, even_high, 0xdd);
    row[6 + c] = _mm512_shuffle_f64x2(odd_low, odd_high, 0xdd);
  });
}
#endif

// A square block with one vector per row. The bits of the numbers do not change.
template <class Lane>
struct Square {
  using Packet = typename Eigen::internal::packet_traits<Lane>::type;
  static constexpr int kSide = Eigen::internal::packet_traits<Lane>::size;
  static_assert(kSide == kLanes<Lane>);
  Eigen::internal::PacketBlock<Packet, kSide> block;

  [[gnu::always_inline]] void set(int row, Vector<Lane> value) {
    block.packet[row] = reinterpret_cast<const Packet&>(value);
  }
  [[gnu::always_inline]] Vector<Lane> get(int row) const {
    return reinterpret_cast<const Vector<Lane>&>(block.packet[row]);
  }
  [[gnu::always_inline]] void transpose() {
#if defined(__AVX512F__)
    transpose_lanes(block.packet);
#else
    Eigen::internal::ptranspose(block);
#endif
  }
};

}  // namespace eindb::EINDB_LEVEL
