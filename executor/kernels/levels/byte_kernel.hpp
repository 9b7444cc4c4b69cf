#pragma once

#include <immintrin.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "executor/kernels/level_table.hpp"

namespace eindb::EINDB_LEVEL {

// Sums of products of pairs of INT16 in lanes of INT32: of a pair that is the same in all lanes, and of one in each.
#if defined(__AVX512BW__)
struct PairLanes {
  using Vector = __m512i;
  static constexpr int kRows = 12;
  static Vector zero() { return _mm512_setzero_si512(); }
  static Vector same(std::int32_t pair) { return _mm512_set1_epi32(pair); }
  static Vector load(const void* from) { return _mm512_loadu_si512(from); }
  static Vector add(Vector sum, Vector a, Vector b) { return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b)); }
  static void store(void* to, Vector v) { _mm512_storeu_si512(to, v); }
};
#elif defined(__AVX2__)
struct PairLanes {
  using Vector = __m256i;
  static constexpr int kRows = 6;
  static Vector zero() { return _mm256_setzero_si256(); }
  static Vector same(std::int32_t pair) { return _mm256_set1_epi32(pair); }
  static Vector load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
  static Vector add(Vector sum, Vector a, Vector b) { return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b)); }
  static void store(void* to, Vector v) { _mm256_storeu_si256(static_cast<__m256i*>(to), v); }
};
#else
struct PairLanes {
  using Vector = __m128i;
  static constexpr int kRows = 4;
  static Vector zero() { return _mm_setzero_si128(); }
  static Vector same(std::int32_t pair) { return _mm_set1_epi32(pair); }
  static Vector load(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
  static Vector add(Vector sum, Vector a, Vector b) { return _mm_add_epi32(sum, _mm_madd_epi16(a, b)); }
  static void store(void* to, Vector v) { _mm_storeu_si128(static_cast<__m128i*>(to), v); }
};
#endif

// A panel's unit: what lies together for one row, or column, as one number.
inline std::int32_t unit_at(const void* panel, std::int64_t n) {
  std::int32_t unit = 0;
  std::memcpy(&unit, static_cast<const std::byte*>(panel) + n * static_cast<std::int64_t>(sizeof unit), sizeof unit);
  return unit;
}

constexpr int kByteVectors = 2;  // of columns

inline void multiply_pairs(std::int64_t units, const void* rows, const void* columns, std::int32_t* sums) {
  using Vector = PairLanes::Vector;
  constexpr int kLanes = sizeof(Vector) / sizeof(std::int32_t);
  Vector sum[PairLanes::kRows][kByteVectors];
  for (auto& row : sum)
    for (auto& vector : row) vector = PairLanes::zero();
  const auto* from = static_cast<const std::byte*>(columns);
  for (std::int64_t p = 0; p < units; ++p, from += kByteVectors * sizeof(Vector)) {
    const auto first = PairLanes::load(from);
    const auto second = PairLanes::load(from + sizeof(Vector));
    for (int r = 0; r < PairLanes::kRows; ++r) {
      const auto value = PairLanes::same(unit_at(rows, p * PairLanes::kRows + r));
      sum[r][0] = PairLanes::add(sum[r][0], value, first);
      sum[r][1] = PairLanes::add(sum[r][1], value, second);
    }
  }
  for (int r = 0; r < PairLanes::kRows; ++r)
    for (int v = 0; v < kByteVectors; ++v) PairLanes::store(sums + (r * kByteVectors + v) * kLanes, sum[r][v]);
}

#if defined(__AVX512BW__)
// The same of four bytes, those of the columns without sign.
[[gnu::target("avx512vnni")]] inline void multiply_quads(std::int64_t units, const void* rows, const void* columns,
                                                         std::int32_t* sums) {
  constexpr int kRows = PairLanes::kRows;
  __m512i sum[kRows][kByteVectors];
  for (auto& row : sum)
    for (auto& vector : row) vector = _mm512_setzero_si512();
  const auto* from = static_cast<const std::byte*>(columns);
  for (std::int64_t p = 0; p < units; ++p, from += kByteVectors * sizeof(__m512i)) {
    const auto first = _mm512_loadu_si512(from);
    const auto second = _mm512_loadu_si512(from + sizeof(__m512i));
    for (int r = 0; r < kRows; ++r) {
      const auto value = _mm512_set1_epi32(unit_at(rows, p * kRows + r));
      sum[r][0] = _mm512_dpbusd_epi32(sum[r][0], first, value);
      sum[r][1] = _mm512_dpbusd_epi32(sum[r][1], second, value);
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kByteVectors; ++v) _mm512_storeu_si512(sums + (r * kByteVectors + v) * 16, sum[r][v]);
}
#endif

inline ByteTable byte_pair_table() {
  return {.rows = PairLanes::kRows,
          .columns = kByteVectors * static_cast<std::int64_t>(sizeof(PairLanes::Vector) / sizeof(std::int32_t)),
          .depth = 2,
          .multiply = multiply_pairs};
}

inline ByteTable byte_quad_table() {
#if defined(__AVX512BW__)
  return {.rows = PairLanes::kRows, .columns = 32, .depth = 4, .multiply = multiply_quads};
#else
  return {};
#endif
}

}  // namespace eindb::EINDB_LEVEL
