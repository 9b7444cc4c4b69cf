#pragma once

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "executor/kernels/levels/reduce.hpp"

/// Truth values as bits: 64 elements of a row in a word. Rows of one operand are compared with rows of the other by the
/// word, in blocks of counts that stay in registers.
namespace eindb::EINDB_LEVEL {

inline constexpr std::int64_t kWordBits = 64;
inline constexpr int kTruthRows = kVectorBytes == 64 ? 8 : 4;
inline constexpr int kTruthVectors = 2;
using Words = Vector<std::uint64_t>;
inline constexpr int kTruthColumns = kTruthVectors * static_cast<int>(kLanes<std::uint64_t>);

// ---- Elements to bits
// ------------------------------------------------------------------------------------------------

/// A bit for each of 64 contiguous elements: whether it is not zero. NaN is not zero.
template <class T>
[[gnu::always_inline]] inline std::uint64_t nonzero_bits(const T* from) {
  std::uint64_t word = 0;
#if defined(__AVX512F__)
  constexpr int kStep = static_cast<int>(kLanes<T>);
  for (int n = 0; n < kWordBits; n += kStep) {
    std::uint64_t bits = 0;
    if constexpr (std::is_same_v<T, float>)
      bits = _mm512_cmp_ps_mask(_mm512_loadu_ps(from + n), _mm512_setzero_ps(), _CMP_NEQ_UQ);
    else if constexpr (std::is_same_v<T, double>)
      bits = _mm512_cmp_pd_mask(_mm512_loadu_pd(from + n), _mm512_setzero_pd(), _CMP_NEQ_UQ);
    else bits = _mm512_test_epi64_mask(_mm512_loadu_si512(from + n), _mm512_set1_epi64(-1));
    word |= bits << n;
  }
#elif defined(__AVX2__)
  constexpr int kStep = static_cast<int>(kLanes<T>);
  for (int n = 0; n < kWordBits; n += kStep) {
    unsigned bits = 0;
    if constexpr (std::is_same_v<T, float>) {
      bits = static_cast<unsigned>(
          _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(from + n), _mm256_setzero_ps(), _CMP_NEQ_UQ)));
    } else if constexpr (std::is_same_v<T, double>) {
      bits = static_cast<unsigned>(
          _mm256_movemask_pd(_mm256_cmp_pd(_mm256_loadu_pd(from + n), _mm256_setzero_pd(), _CMP_NEQ_UQ)));
    } else {
      const auto values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + n));
      const auto zeros = _mm256_cmpeq_epi64(values, _mm256_setzero_si256());
      bits = 0xFU & ~static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(zeros)));
    }
    word |= static_cast<std::uint64_t>(bits) << n;
  }
#else
  for (int n = 0; n < kWordBits; ++n) word |= static_cast<std::uint64_t>(from[n] != 0) << n;
#endif
  return word;
}

/// The same for `count` < 64 elements that are `step` apart.
template <class T>
std::uint64_t nonzero_bits(const T* from, std::int64_t step, std::int64_t count) {
  std::uint64_t word = 0;
  for (std::int64_t n = 0; n < count; ++n) word |= static_cast<std::uint64_t>(from[n * step] != 0) << n;
  return word;
}

/// Swaps rows and columns of 64 x 64 bits, by blocks of half the size each time (Hacker's Delight, section 7-3).
inline void transpose_bits(std::array<std::uint64_t, kWordBits>& rows) {
  std::uint64_t mask = 0xFFFFFFFF;
  for (unsigned half = 32; half != 0; half >>= 1U, mask ^= mask << half) {
    for (unsigned r = 0; r < 64; r = (r + half + 1) & ~half) {
      const auto moved = ((rows[r] >> half) ^ rows[r + half]) & mask;
      rows[r] ^= moved << half;
      rows[r + half] ^= moved;
    }
  }
}

/// See PackTruths in level_table.hpp.
template <class T>
void pack_truths(ConstMatrixView from, std::int64_t rows, std::int64_t columns, std::uint64_t flip, std::int64_t width,
                 std::uint64_t* to) {
  const auto* data = static_cast<const T*>(from.data);
  const std::int64_t words = (columns + kWordBits - 1) / kWordBits;
  const auto put = [&](std::int64_t row, std::int64_t word, std::uint64_t bits) {
    const auto used = std::min(kWordBits, columns - word * kWordBits);
    const auto mask = used == kWordBits ? ~std::uint64_t{0} : (std::uint64_t{1} << used) - 1;
    to[(row / width * words + word) * width + row % width] = (bits ^ flip) & mask;
  };
  if (from.row_stride != 1 || from.column_stride == 1) {
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto* row = data + r * from.row_stride;
      for (std::int64_t w = 0; w < words; ++w) {
        const auto count = std::min(kWordBits, columns - w * kWordBits);
        const auto* begin = row + w * kWordBits * from.column_stride;
        put(r, w,
            count == kWordBits && from.column_stride == 1 ? nonzero_bits(begin)
                                                          : nonzero_bits(begin, from.column_stride, count));
      }
    }
  } else {
    for (std::int64_t w = 0; w < words; ++w) {
      const auto depth = std::min(kWordBits, columns - w * kWordBits);
      for (std::int64_t r = 0; r < rows; r += kWordBits) {
        const auto count = std::min(kWordBits, rows - r);
        std::array<std::uint64_t, kWordBits> block{};
        for (std::int64_t d = 0; d < depth; ++d) {
          const auto* begin = data + (w * kWordBits + d) * from.column_stride + r;
          block[static_cast<std::size_t>(d)] = count == kWordBits ? nonzero_bits(begin) : nonzero_bits(begin, 1, count);
        }
        transpose_bits(block);
        for (std::int64_t n = 0; n < count; ++n) put(r + n, w, block[static_cast<std::size_t>(n)]);
      }
    }
  }
  for (std::int64_t r = rows; r % width != 0; ++r)
    for (std::int64_t w = 0; w < words; ++w) to[(r / width * words + w) * width + r % width] = 0;
}

// ---- Blocks
// ----------------------------------------------------------------------------------------------------------

using TruthCounts = std::array<std::array<std::uint64_t, kTruthColumns>, kTruthRows>;

/// Sets bit by bit whether two rows have a word with a common bit.
inline void common_bits(const std::uint64_t* a, const std::uint64_t* b, std::int64_t words, TruthCounts& out) {
  Words any[kTruthRows][kTruthVectors] = {};
  for (std::int64_t w = 0; w < words; ++w, a += kTruthRows, b += kTruthColumns) {
#pragma GCC unroll 8
    for (int r = 0; r < kTruthRows; ++r) {
      const Words left = broadcast(a[r]);
      for (int v = 0; v < kTruthVectors; ++v) any[r][v] |= left & load(b + v * kLanes<std::uint64_t>);
    }
  }
  for (int r = 0; r < kTruthRows; ++r)
    for (int c = 0; c < kTruthColumns; ++c)
      out[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)] =
          any[r][c / kLanes<std::uint64_t>][c % kLanes<std::uint64_t>] != 0;
}

// Sums of bytes, each at most 255, in each word.
inline Words sums_of_bytes(Words bytes) {
  constexpr std::uint64_t kBytes = 0x00FF00FF00FF00FF;
  Words pairs = (bytes & broadcast(kBytes)) + ((bytes >> 8) & broadcast(kBytes));
  pairs += pairs >> 32;
  pairs += pairs >> 16;
  return pairs & broadcast(std::uint64_t{0xFFFF});
}

// The number of bits of each byte.
inline Words bits_of_bytes(Words x) {
  x -= (x >> 1) & broadcast(std::uint64_t{0x5555555555555555});
  x = (x & broadcast(std::uint64_t{0x3333333333333333})) + ((x >> 2) & broadcast(std::uint64_t{0x3333333333333333}));
  return (x + (x >> 4)) & broadcast(std::uint64_t{0x0F0F0F0F0F0F0F0F});
}

/// Counts the common bits of each pair of rows.
inline void count_bits(const std::uint64_t* a, const std::uint64_t* b, std::int64_t words, TruthCounts& out) {
  constexpr std::int64_t kMostWords = 31;  // of 8 bits per byte each
  Words counts[kTruthRows][kTruthVectors] = {};
  for (std::int64_t begin = 0; begin < words; begin += kMostWords) {
    const auto end = std::min(words, begin + kMostWords);
    for (int r = 0; r < kTruthRows; ++r) {
      Words bytes[kTruthVectors] = {};
      for (std::int64_t w = begin; w < end; ++w) {
        const Words left = broadcast(a[w * kTruthRows + r]);
        for (int v = 0; v < kTruthVectors; ++v)
          bytes[v] += bits_of_bytes(left & load(b + w * kTruthColumns + v * kLanes<std::uint64_t>));
      }
      for (int v = 0; v < kTruthVectors; ++v) counts[r][v] += sums_of_bytes(bytes[v]);
    }
  }
  for (int r = 0; r < kTruthRows; ++r)
    for (int v = 0; v < kTruthVectors; ++v)
      store(out[static_cast<std::size_t>(r)].data() + v * kLanes<std::uint64_t>, counts[r][v]);
}

#if defined(__AVX512F__)
/// The same with an instruction that some processors of this level have.
[[gnu::target("avx512vpopcntdq")]] inline void count_bits_by_instruction(const std::uint64_t* a, const std::uint64_t* b,
                                                                         std::int64_t words, TruthCounts& out) {
  __m512i counts[kTruthRows][kTruthVectors] = {};
  for (std::int64_t w = 0; w < words; ++w, a += kTruthRows, b += kTruthColumns) {
    const auto low = _mm512_loadu_si512(b);
    const auto high = _mm512_loadu_si512(b + 8);
#pragma GCC unroll 8
    for (int r = 0; r < kTruthRows; ++r) {
      const auto left = _mm512_set1_epi64(static_cast<long long>(a[r]));
      counts[r][0] = _mm512_add_epi64(counts[r][0], _mm512_popcnt_epi64(_mm512_and_si512(left, low)));
      counts[r][1] = _mm512_add_epi64(counts[r][1], _mm512_popcnt_epi64(_mm512_and_si512(left, high)));
    }
  }
  for (int r = 0; r < kTruthRows; ++r)
    for (int v = 0; v < kTruthVectors; ++v)
      _mm512_storeu_si512(out[static_cast<std::size_t>(r)].data() + v * 8, counts[r][v]);
}
#endif

/// See TruthBlock in level_table.hpp.
template <class T, Aggregate kAggregate, auto kFind>
void truth_block(const std::uint64_t* a, const std::uint64_t* b, std::int64_t words, std::int64_t total, MatrixView c,
                 std::int64_t rows, std::int64_t columns, bool first) {
  alignas(64) TruthCounts counts;
  kFind(a, b, words, counts);
  for (std::int64_t r = 0; r < rows; ++r) {
    auto* out = static_cast<T*>(c.data) + r * c.row_stride;
    std::array<T, kTruthColumns> values;
    for (std::size_t s = 0; s < kTruthColumns; ++s) {
      const auto count = static_cast<std::int64_t>(counts[static_cast<std::size_t>(r)][s]);
      values[s] = static_cast<T>(total < 0 ? count : total - count);
    }
    for (std::int64_t s = 0; s < columns; ++s) {
      auto& cell = out[s * c.column_stride];
      const auto value = values[static_cast<std::size_t>(s)];
      cell = first ? value : Fold<kAggregate, T>::apply(cell, value);
    }
  }
}

template <class T>
void fill_truths(ElementTable& table) {
  table.truth_rows = kTruthRows;
  table.truth_columns = kTruthColumns;
  table.pack_truths = pack_truths<T>;
  table.truth[slot_of(Aggregate::Sum)] = truth_block<T, Aggregate::Sum, count_bits>;
#if defined(__AVX512F__)
  if (__builtin_cpu_supports("avx512vpopcntdq"))
    table.truth[slot_of(Aggregate::Sum)] = truth_block<T, Aggregate::Sum, count_bits_by_instruction>;
#endif
  table.truth[slot_of(Aggregate::Max)] = truth_block<T, Aggregate::Max, common_bits>;
  table.truth[slot_of(Aggregate::Min)] = truth_block<T, Aggregate::Min, common_bits>;
}

}  // namespace eindb::EINDB_LEVEL
