#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

#include "executor/kernels/levels/micro_kernel.hpp"
#include "executor/kernels/levels/reduce.hpp"
#include "executor/kernels/levels/strided_kernel.hpp"
#include "tensor/small_float.hpp"

/// Matrix-vector products. Memory bandwidth is the limit; it is highest if few rows are read at a time.
namespace eindb::EINDB_LEVEL {

// The prefetch distance in bytes: within long rows, or across short rows the corresponding number of rows. Hardware
// prefetching does not cross a page boundary.
inline constexpr std::int64_t kFetchAhead = 4096;

// Short rows are multiplied several at a time, since their final sums dominate.
inline constexpr std::int64_t kShortRow = 256;
inline constexpr int kShortRows = 4;
inline constexpr int kAddedRows = 4;

inline std::int64_t fetch_ahead(const void* const* rows, std::int64_t row_count, std::int64_t row_bytes) {
  if (row_bytes >= kFetchAhead || row_count < 2) return kFetchAhead;
  return (static_cast<const std::byte*>(rows[1]) - static_cast<const std::byte*>(rows[0])) * (kFetchAhead / row_bytes);
}

// Rows of bytes are short in memory, and few loads take much of them: the rows that are some pages ahead are fetched.
inline std::int64_t to_next_rows(const void* const* rows, std::int64_t row_count, std::int64_t row_bytes) {
  constexpr std::int64_t kRowBytesAhead = 16384;
  if (row_count <= kShortRows) return row_bytes > kFetchAhead ? kFetchAhead : 0;
  const auto next = std::min((kRowBytesAhead + row_bytes - 1) / row_bytes, row_count - 1);
  return static_cast<const std::byte*>(rows[next]) - static_cast<const std::byte*>(rows[0]);
}

template <std::int64_t kBytes>
[[gnu::always_inline]] inline void prefetch_lines(const void* from) {
  unrolled<static_cast<int>((kBytes + kLine - 1) / kLine)>([&](auto line) __attribute__((always_inline)) {
    __builtin_prefetch(static_cast<const std::byte*>(from) + line * kLine);
  });
}

// ---- Rows of narrow types, which become FLOAT32 in registers ----

[[gnu::always_inline]] inline Vector<float> load_narrow(const BrainFloat* from) {
#if defined(__AVX512F__)
  const auto bits = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  return _mm512_castsi512_ps(_mm512_slli_epi32(bits, 16));
#elif defined(__AVX2__)
  const auto bits = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  return _mm256_castsi256_ps(_mm256_slli_epi32(bits, 16));
#else
  const auto bits = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return _mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), bits));
#endif
}

[[gnu::always_inline]] inline Vector<float> load_narrow(const Half* from) {
#if defined(__AVX512F__)
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
#elif defined(__AVX2__)
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#else
  float values[kLanes<float>];
  for (std::int64_t l = 0; l < kLanes<float>; ++l) values[l] = widen(from[l]);
  return load(static_cast<const float*>(values));
#endif
}

[[gnu::always_inline]] inline Vector<float> load_narrow(const std::int8_t* from) {
#if defined(__AVX512F__)
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#elif defined(__AVX2__)
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
#else
  float values[kLanes<float>];
  for (std::int64_t l = 0; l < kLanes<float>; ++l) values[l] = static_cast<float>(from[l]);
  return load(static_cast<const float*>(values));
#endif
}

// Bytes as whole numbers.
[[gnu::always_inline]] inline Vector<std::uint64_t> load_whole(const std::int8_t* from) {
#if defined(__AVX512F__)
  const auto bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return reinterpret_cast<Vector<std::uint64_t>>(_mm512_cvtepi8_epi64(bytes));
#elif defined(__AVX2__)
  std::int32_t bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  return reinterpret_cast<Vector<std::uint64_t>>(_mm256_cvtepi8_epi64(_mm_cvtsi32_si128(bytes)));
#else
  std::uint64_t values[kLanes<std::uint64_t>];
  for (std::int64_t l = 0; l < kLanes<std::uint64_t>; ++l)
    values[l] = static_cast<std::uint64_t>(static_cast<std::int64_t>(from[l]));
  return load(static_cast<const std::uint64_t*>(values));
#endif
}

template <class Row>
inline constexpr bool is_narrow_row = sizeof(Row) < 4;

// Elements of a row as R.
template <class R, class Row>
[[gnu::always_inline]] inline Vector<R> load_row(const Row* from) {
  if constexpr (!is_narrow_row<Row>) return load(from);
  else if constexpr (std::is_same_v<R, float>) return load_narrow(from);
  else return load_whole(from);
}

// The first `count` elements; the other lanes are zero.
template <class R, class Row>
[[gnu::always_inline]] inline Vector<R> load_row_part(const Row* from, std::int64_t count) {
  if constexpr (is_narrow_row<Row>) {
    Row row[kLanes<R>]{};
    std::memcpy(row, from, static_cast<std::size_t>(count) * sizeof(Row));
    return load_row<R>(static_cast<const Row*>(row));
  } else {
    return load_part(from, count);
  }
}

// ---- Blocks of 32 cells with a scale (tensor/cell_encoding) ----

inline constexpr std::int64_t kBlockCells = 32;

// The levels of a block, which its scale multiplies.
struct LevelsOf8Bits {
  static constexpr std::int64_t kBytes = kBlockCells;
  const std::int8_t* levels;

  [[gnu::always_inline]] explicit LevelsOf8Bits(const std::byte* from)
      : levels(reinterpret_cast<const std::int8_t*>(from)) {}
};

struct LevelsOf4Bits {
  static constexpr std::int64_t kBytes = kBlockCells / 2;
  std::int8_t levels[kBlockCells];

  // The low halves of all bytes, then their high ones; 8 is the level of 0.
  [[gnu::always_inline]] explicit LevelsOf4Bits(const std::byte* from) {
    const auto both = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    const auto mask = _mm_set1_epi8(15);
    const auto zero = _mm_set1_epi8(8);
    const auto low = _mm_sub_epi8(_mm_and_si128(both, mask), zero);
    const auto high = _mm_sub_epi8(_mm_and_si128(_mm_srli_epi16(both, 4), mask), zero);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(levels), low);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(levels + kBlockCells / 2), high);
  }
};

// Sums the lanes pairwise.
template <class R>
[[gnu::always_inline]] inline R sum_of_lanes(Vector<R> value) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<R, float>) return _mm512_reduce_add_ps(value);
  else if constexpr (std::is_same_v<R, double>) return _mm512_reduce_add_pd(value);
#endif
  R lanes[kLanes<R>];
  store(lanes, value);
  for (auto half = kLanes<R> / 2; half > 0; half /= 2)
    for (std::int64_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  return lanes[0];
}

// Dot products of several rows with x: kVectors vectors of sums per row, which are added pairwise at the end.
template <class T, class Row, int kRows, int kVectors>
void dot_fixed(Wide<T>* sums, const void* const* rows, const T* x, std::int64_t count, std::int64_t ahead) {
  using R = Part<T>;
  static_assert(kVectors == 2 || kVectors == 4);
  constexpr auto kStep = kVectors * kLanes<R>;
  std::array<const Row*, kRows> row;
  for (int r = 0; r < kRows; ++r) row[static_cast<std::size_t>(r)] = static_cast<const Row*>(rows[r]);
  const auto* other = reinterpret_cast<const R*>(x);
  Sums<R, kRows, kVectors> sum{};
  std::int64_t i = 0;
  for (; i + kStep <= count; i += kStep) {
    unrolled<kRows>([&](auto r) __attribute__((always_inline)) {
      prefetch_lines<kStep* static_cast<std::int64_t>(sizeof(Row))>(reinterpret_cast<const std::byte*>(row[r] + i) +
                                                                    ahead);
    });
    unrolled<kVectors>([&](auto v) __attribute__((always_inline)) {
      const auto at = i + v * kLanes<R>;
      const auto factor = load(other + at);
      unrolled<kRows>([&](auto r) __attribute__((always_inline)) { sum[r][v] += load_row<R>(row[r] + at) * factor; });
    });
  }
  for (; i < count; i += kLanes<R>) {
    const auto left = std::min(kLanes<R>, count - i);
    const auto part = [&](const auto* from) {
      return left == kLanes<R> ? load_row<R>(from) : load_row_part<R>(from, left);
    };
    const auto factor = part(other + i);
    unrolled<kRows>([&](auto r) __attribute__((always_inline)) { sum[r][0] += part(row[r] + i) * factor; });
  }
  unrolled<kRows>([&](auto r) __attribute__((always_inline)) {
    if constexpr (kVectors == 4)
      unrolled<2>([&](auto v) __attribute__((always_inline)) { sum[r][v] += sum[r][v + 2]; });
    const auto both = sum[r][0] + sum[r][1];
    sums[r] = scalar_add(sums[r], static_cast<Wide<T>>(static_cast<T>(sum_of_lanes<R>(both))));
  });
}

template <class T, class Row = Part<T>>
void dot_rows(void* sums, const void* const* rows, std::int64_t row_count, const void* x, std::int64_t count) {
  auto* to = static_cast<Wide<T>*>(sums);
  const auto* vector = static_cast<const T*>(x);
  const auto bytes = count * static_cast<std::int64_t>(sizeof(Row));
  const auto ahead = fetch_ahead(rows, row_count, bytes);
  if (bytes < kShortRow)
    for (; row_count >= kShortRows; row_count -= kShortRows, rows += kShortRows, to += kShortRows)
      dot_fixed<T, Row, kShortRows, 2>(to, rows, vector, count, ahead);
  for (; row_count > 0; --row_count, ++rows, ++to) dot_fixed<T, Row, 1, 4>(to, rows, vector, count, ahead);
}

// ---- Rows of bytes times whole numbers ----

#if defined(__AVX512BW__)
using ShortWords = __m512i;
[[gnu::always_inline]] inline ShortWords load_words(const std::int16_t* from) { return _mm512_loadu_si512(from); }
[[gnu::always_inline]] inline ShortWords load_words(const std::int8_t* from) {
  return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
[[gnu::always_inline]] inline ShortWords add_products(ShortWords sum, ShortWords a, ShortWords b) {
  return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
}
#elif defined(__AVX2__)
using ShortWords = __m256i;
[[gnu::always_inline]] inline ShortWords load_words(const std::int16_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
[[gnu::always_inline]] inline ShortWords load_words(const std::int8_t* from) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
[[gnu::always_inline]] inline ShortWords add_products(ShortWords sum, ShortWords a, ShortWords b) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}
#else
using ShortWords = __m128i;
[[gnu::always_inline]] inline ShortWords load_words(const std::int16_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
[[gnu::always_inline]] inline ShortWords load_words(const std::int8_t* from) {
  const auto bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return _mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
}
[[gnu::always_inline]] inline ShortWords add_products(ShortWords sum, ShortWords a, ShortWords b) {
  return _mm_add_epi32(sum, _mm_madd_epi16(a, b));
}
#endif

inline constexpr std::int64_t kWords = sizeof(ShortWords) / sizeof(std::int16_t);
// A product of 8 and 16 bits is at most 2^22, two of them 2^23, and 128 such pairs 2^30, which a lane of 32 bits holds.
inline constexpr std::int64_t kMostWords = 128 * kWords;

[[gnu::always_inline]] inline std::uint64_t sum_of_words(ShortWords words) {
  std::int32_t lanes[kWords / 2];
  std::memcpy(lanes, &words, sizeof lanes);
  std::int64_t sum = 0;
  for (const auto lane : lanes) sum += lane;
  return static_cast<std::uint64_t>(sum);
}

// `x` has zeros up to whole vectors; count <= kMostWords.
template <int kRows>
void dot_bytes_fixed(std::uint64_t* sums, const void* const* rows, std::int64_t begin, const std::int16_t* x,
                     std::int64_t count, std::int64_t ahead) {
  std::array<const std::int8_t*, kRows> row;
  for (int r = 0; r < kRows; ++r) row[static_cast<std::size_t>(r)] = static_cast<const std::int8_t*>(rows[r]) + begin;
  std::array<ShortWords, kRows> sum{};
  std::int64_t i = 0;
  for (; i + kWords <= count; i += kWords) {
    const auto factor = load_words(x + i);
    unrolled<kRows>([&](auto r) __attribute__((always_inline)) {
      __builtin_prefetch(row[r] + i + ahead);
      sum[r] = add_products(sum[r], load_words(row[r] + i), factor);
    });
  }
  if (i < count) {
    const auto factor = load_words(x + i);
    unrolled<kRows>([&](auto r) __attribute__((always_inline)) {
      std::int8_t bytes[kWords]{};
      std::memcpy(bytes, row[r] + i, static_cast<std::size_t>(count - i));
      sum[r] = add_products(sum[r], load_words(static_cast<const std::int8_t*>(bytes)), factor);
    });
  }
  unrolled<kRows>([&](auto r) __attribute__((always_inline)) { sums[r] += sum_of_words(sum[r]); });
}

// x in 16 bits; false if some have more.
inline bool narrowed(const std::int64_t* x, std::int64_t count, std::int16_t* to) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int16_t>::min();
  constexpr std::uint64_t kRange = std::uint64_t{1} << 16U;
  bool fits = true;
  for (std::int64_t i = 0; i < count; ++i) {
    fits &= static_cast<std::uint64_t>(x[i]) - static_cast<std::uint64_t>(kLeast) < kRange;
    to[i] = static_cast<std::int16_t>(x[i]);
  }
  std::fill(to + count, to + (count + kWords - 1) / kWords * kWords, std::int16_t{0});
  return fits;
}

// Dot products of rows of bytes with x, exact modulo 2^64: in 32 bits where x has 16, and else in 64.
inline void dot_bytes(void* sums, const void* const* rows, std::int64_t row_count, const void* x, std::int64_t count) {
  const auto* vector = static_cast<const std::int64_t*>(x);
  alignas(64) std::int16_t words[kMostWords];
  for (std::int64_t begin = 0; begin < count; begin += kMostWords) {
    const auto length = std::min(kMostWords, count - begin);
    if (!narrowed(vector + begin, length, words)) {
      std::array<const void*, kShortRows> part;
      for (std::int64_t r = 0; r < row_count; r += kShortRows) {
        const auto together = std::min<std::int64_t>(kShortRows, row_count - r);
        for (std::int64_t n = 0; n < together; ++n)
          part[static_cast<std::size_t>(n)] = static_cast<const std::int8_t*>(rows[r + n]) + begin;
        dot_rows<std::int64_t, std::int8_t>(static_cast<std::int64_t*>(sums) + r, part.data(), together, vector + begin,
                                            length);
      }
      continue;
    }
    auto* to = static_cast<std::uint64_t*>(sums);
    const auto* row = rows;
    auto left = row_count;
    for (; left >= kShortRows; left -= kShortRows, row += kShortRows, to += kShortRows)
      dot_bytes_fixed<kShortRows>(to, row, begin, words, length, to_next_rows(row, left, length));
    for (; left > 0; --left, ++row, ++to) dot_bytes_fixed<1>(to, row, begin, words, length, kFetchAhead);
  }
}

// Adds the products of a block with its part of x to `sum`. The scale multiplies their sum; if it is no number, each
// cell.
template <class Levels>
[[gnu::always_inline]] inline void add_block(const std::byte* unit, const float* x, Vector<float>& sum) {
  __builtin_prefetch(unit + kFetchAhead);
  Half half;
  std::memcpy(&half, unit, sizeof half);
  const auto scale = broadcast(widen(half));
  const bool is_finite = (half.bits & Half::kTop) != Half::kTop;
  const Levels block(unit + sizeof half);
  Vector<float> of_block{};
  unrolled<static_cast<int>(kBlockCells / kLanes<float>)>([&](auto v) __attribute__((always_inline)) {
    auto cells = load_narrow(block.levels + v * kLanes<float>);
    if (!is_finite) cells = cells * scale;
    of_block += cells * load(x + v * kLanes<float>);
  });
  sum += is_finite ? of_block * scale : of_block;
}

// Dot products of rows of blocks with x.
template <class Levels>
void dot_blocks(void* sums, const void* const* rows, std::int64_t row_count, const void* x, std::int64_t count) {
  constexpr std::int64_t kUnit = sizeof(Half) + Levels::kBytes;
  constexpr int kSums = 4;
  auto* to = static_cast<double*>(sums);
  for (std::int64_t r = 0; r < row_count; ++r) {
    const auto* unit = static_cast<const std::byte*>(rows[r]);
    const auto* vector = static_cast<const float*>(x);
    auto left = count / kBlockCells;
    std::array<Vector<float>, kSums> sum{};
    for (; left >= kSums; left -= kSums)
      unrolled<kSums>([&](auto n) __attribute__((always_inline)) {
        add_block<Levels>(unit, vector, sum[n]);
        unit += kUnit;
        vector += kBlockCells;
      });
    for (; left > 0; --left, unit += kUnit, vector += kBlockCells) add_block<Levels>(unit, vector, sum[0]);
    to[r] = scalar_add(to[r], static_cast<double>(sum_of_lanes<float>((sum[0] + sum[1]) + (sum[2] + sum[3]))));
  }
}

template <class T, class Row, int kRows>
void add_fixed(T* sums, const void* const* rows, const T* x, std::int64_t count, bool first, std::int64_t ahead) {
  using R = Part<T>;
  std::array<const Row*, kRows> row;
  std::array<Vector<R>, kRows> factor;
  for (int r = 0; r < kRows; ++r) {
    row[static_cast<std::size_t>(r)] = static_cast<const Row*>(rows[r]);
    factor[static_cast<std::size_t>(r)] = broadcast(static_cast<R>(x[r]));
  }
  auto* to = reinterpret_cast<R*>(sums);
  std::int64_t i = 0;
  for (; i + kLanes<R> <= count; i += kLanes<R>) {
    auto sum = first ? Vector<R>{} : load(to + i);
    unrolled<kRows>([&](auto r) __attribute__((always_inline)) {
      __builtin_prefetch(reinterpret_cast<const std::byte*>(row[r] + i) + ahead);
      sum += load_row<R>(row[r] + i) * factor[r];
    });
    store(to + i, sum);
  }
  if (i == count) return;
  auto sum = first ? Vector<R>{} : load_part(to + i, count - i);
  unrolled<kRows>([&](auto r)
                      __attribute__((always_inline)) { sum += load_row_part<R>(row[r] + i, count - i) * factor[r]; });
  store_part(to + i, sum, count - i);
}

template <class T, class Row = Part<T>>
void add_rows(void* sums, const void* const* rows, std::int64_t row_count, const void* x, std::int64_t count,
              bool first) {
  auto* to = static_cast<T*>(sums);
  const auto* vector = static_cast<const T*>(x);
  const auto ahead = fetch_ahead(rows, row_count, count * static_cast<std::int64_t>(sizeof(Row)));
  for (; row_count >= kAddedRows; row_count -= kAddedRows, rows += kAddedRows, vector += kAddedRows, first = false)
    add_fixed<T, Row, kAddedRows>(to, rows, vector, count, first, ahead);
  for (; row_count > 0; --row_count, ++rows, ++vector, first = false)
    add_fixed<T, Row, 1>(to, rows, vector, count, first, ahead);
}

// A tile of small matrices, with a different matrix in each lane: element (i, p) of a is the vector at a[i][depth[p]].
template <class T, int kRows, int kColumns>
void multiply_lanes_tile(const LaneProduct& p, const T* a, const T* b, T* c, std::int64_t i, std::int64_t j) {
  using R = Part<T>;
  std::array<std::array<Vector<R>, kColumns>, kRows> sum{};
  std::array<const R*, kRows> rows;
  std::array<const R*, kColumns> columns;
  unrolled<kRows>([&](auto r) { rows[r] = reinterpret_cast<const R*>(a + p.a_rows[i + r]); });
  unrolled<kColumns>([&](auto q) { columns[q] = reinterpret_cast<const R*>(b + p.b_columns[j + q]); });
  for (std::int64_t d = 0; d < p.depth; ++d) {
    std::array<Vector<R>, kColumns> y;
    unrolled<kColumns>([&](auto q) __attribute__((always_inline)) { y[q] = load(columns[q] + p.b_depth[d]); });
    unrolled<kRows>([&](auto r) __attribute__((always_inline)) {
      const auto x = load(rows[r] + p.a_depth[d]);
      unrolled<kColumns>([&](auto q) __attribute__((always_inline)) { sum[r][q] += x * y[q]; });
    });
  }
  const auto factor = broadcast(static_cast<R>(static_cast<T>(p.factor)));
  unrolled<kRows>([&](auto r) __attribute__((always_inline)) {
    unrolled<kColumns>([&](auto q) __attribute__((always_inline)) {
      auto* to = reinterpret_cast<R*>(c + p.c_rows[i + r] + p.c_columns[j + q]);
      auto value = sum[r][q] * factor;
      if (p.add) value += load(to);
      store(to, value);
    });
  });
}

#if defined(__AVX512F__)
inline constexpr int kLaneRows = 6;
inline constexpr int kLaneColumns = 4;
#else
inline constexpr int kLaneRows = 3;
inline constexpr int kLaneColumns = 3;
#endif

template <class T>
void multiply_lanes(const LaneProduct& p, const void* a, const void* b, void* c) {
  using Tile = void (*)(const LaneProduct&, const T*, const T*, T*, std::int64_t, std::int64_t);
  static constexpr auto kTiles = [] {
    std::array<std::array<Tile, kLaneColumns>, kLaneRows> tiles{};
    unrolled<kLaneRows>(
        [&](auto r) { unrolled<kLaneColumns>([&](auto q) { tiles[r][q] = multiply_lanes_tile<T, r + 1, q + 1>; }); });
    return tiles;
  }();
  for (std::int64_t i = 0; i < p.rows; i += kLaneRows)
    for (std::int64_t j = 0; j < p.columns; j += kLaneColumns)
      kTiles[static_cast<std::size_t>(std::min<std::int64_t>(kLaneRows, p.rows - i) - 1)]
            [static_cast<std::size_t>(std::min<std::int64_t>(kLaneColumns, p.columns - j) - 1)](
                p, static_cast<const T*>(a), static_cast<const T*>(b), static_cast<T*>(c), i, j);
}

template <class T>
VectorTable vector_table() {
  VectorTable encoded{};
  if constexpr (std::is_same_v<T, float>) {
    encoded.dot_encoded = {dot_rows<T, BrainFloat>, dot_rows<T, Half>, dot_rows<T, std::int8_t>,
                           dot_blocks<LevelsOf8Bits>, dot_blocks<LevelsOf4Bits>};
    encoded.add_encoded = {add_rows<T, BrainFloat>, add_rows<T, Half>, add_rows<T, std::int8_t>, nullptr, nullptr};
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    encoded.dot_encoded = {nullptr, nullptr, dot_bytes, nullptr, nullptr};
    encoded.add_encoded = {nullptr, nullptr, add_rows<T, std::int8_t>, nullptr, nullptr};
  }
  return {.lanes = kLanes<T>,
          .dot_rows = dot_rows<T>,
          .add_rows = add_rows<T>,
          .dot_encoded = encoded.dot_encoded,
          .add_encoded = encoded.add_encoded,
          .lane_rows = kLaneRows,
          .lane_columns = kLaneColumns,
          .multiply_lanes = multiply_lanes<T>,
          .multiply_strided = multiply_strided<T>};
}

}  // namespace eindb::EINDB_LEVEL
