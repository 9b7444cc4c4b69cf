#include <algorithm>
#include <complex>
#include <cstdint>

#include "executor/kernels/levels/element_tables.hpp"
#include "executor/kernels/levels/square.hpp"

namespace eindb::EINDB_LEVEL {
namespace {

// Where it is streamed, the square beside it in the source is fetched.
template <class T, bool kStreams>
void transpose_square(T* target, std::int64_t target_stride, const T* source, std::int64_t source_stride) {
  constexpr int kSide = Square<T>::kSide;
  Square<T> square;
  unrolled<kSide>([&](auto r) __attribute__((always_inline)) {
    square.set(r, load(source + r * source_stride));
    if constexpr (kStreams) __builtin_prefetch(source + r * source_stride + kSide);
  });
  square.transpose();
  unrolled<kSide>([&](auto c) __attribute__((always_inline)) {
    if constexpr (kStreams) stream(target + c * target_stride, square.get(c));
    else store(target + c * target_stride, square.get(c));
  });
}

// For vectors with masks, and parts that are not small.
template <class T>
bool pays_as_square([[maybe_unused]] std::int64_t rows, [[maybe_unused]] std::int64_t columns) {
#if defined(__AVX2__)
  return std::min(rows, columns) > Square<T>::kSide / 4;
#else
  return false;
#endif
}

template <class T>
void transpose_part(T* target, std::int64_t target_stride, const T* source, std::int64_t source_stride,
                    std::int64_t rows, std::int64_t columns) {
  constexpr int kSide = Square<T>::kSide;
  Square<T> square;
  unrolled<kSide>([&](auto r) __attribute__((always_inline)) {
    square.set(r, load_part(source + std::min<std::int64_t>(r, rows - 1) * source_stride, columns));
  });
  square.transpose();
  unrolled<kSide>([&](auto c) __attribute__((always_inline)) {
    if (c < columns) store_part(target + c * target_stride, square.get(c), rows);
  });
}

template <class T>
void transpose_plain(T* target, std::int64_t target_stride, const T* source, std::int64_t source_stride,
                     std::int64_t rows, std::int64_t columns) {
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t r = 0; r < rows; ++r) target[c * target_stride + r] = source[r * source_stride + c];
}

// The block size for which the cache lines of both sides stay in the first-level cache until they are used up.
constexpr std::int64_t kBlock = 64;

// Calls square(target, source, rows, columns) for squares of this side, and for the remaining parts.
template <class T, class Square>
void transpose_blocks(T* target, std::int64_t target_stride, const T* source, std::int64_t source_stride,
                      std::int64_t rows, std::int64_t columns, std::int64_t side, Square square) {
  for (std::int64_t r0 = 0; r0 < rows; r0 += kBlock) {
    const auto r1 = std::min(rows, r0 + kBlock);
    for (std::int64_t c = 0; c < columns; c += side)
      for (std::int64_t r = r0; r < r1; r += side)
        square(target + c * target_stride + r, source + r * source_stride + c, std::min(side, r1 - r),
               std::min(side, columns - c));
  }
}

// Only moves data: bits pass unchanged through vector registers of any type of the same size.
template <class T, bool kStreams = false>
void transpose_vectors(void* target, std::int64_t target_stride, const void* source, std::int64_t source_stride,
                       std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kSide = Square<T>::kSide;
  const auto square = [&](T* to, const T* from, std::int64_t height, std::int64_t width) {
    if (height == kSide && width == kSide) transpose_square<T, kStreams>(to, target_stride, from, source_stride);
    else if (pays_as_square<T>(height, width)) transpose_part(to, target_stride, from, source_stride, height, width);
    else transpose_plain(to, target_stride, from, source_stride, height, width);
  };
  transpose_blocks(static_cast<T*>(target), target_stride, static_cast<const T*>(source), source_stride, rows, columns,
                   kSide, square);
}

template <class T>
void stream_transposed(void* target, std::int64_t target_stride, const void* source, std::int64_t source_stride,
                       std::int64_t rows, std::int64_t columns) {
  constexpr auto kElement = static_cast<std::int64_t>(sizeof(T));
  const bool is_aligned =
      reinterpret_cast<std::uintptr_t>(target) % kVectorBytes == 0 && target_stride * kElement % kVectorBytes == 0;
  (is_aligned ? transpose_vectors<T, true> : transpose_vectors<T>)(target, target_stride, source, source_stride, rows,
                                                                   columns);
}

void stream_lines(void* to, const void* from, std::int64_t count) {
  constexpr std::int64_t kLineBytes = 64;
  auto* target = static_cast<std::int64_t*>(to);
  const auto* source = static_cast<const std::int64_t*>(from);
  for (std::int64_t n = 0; n < count * kLineBytes / 8; n += kVectorBytes / 8) stream(target + n, load(source + n));
}

}  // namespace

StreamTable stream_table() {
  return {.copy_lines = stream_lines, .transpose4 = stream_transposed<float>, .transpose8 = stream_transposed<double>};
}

void transpose4(void* target, std::int64_t target_stride, const void* source, std::int64_t source_stride,
                std::int64_t rows, std::int64_t columns) {
  transpose_vectors<float>(target, target_stride, source, source_stride, rows, columns);
}

void transpose8(void* target, std::int64_t target_stride, const void* source, std::int64_t source_stride,
                std::int64_t rows, std::int64_t columns) {
  transpose_vectors<double>(target, target_stride, source, source_stride, rows, columns);
}

void transpose16(void* target, std::int64_t target_stride, const void* source, std::int64_t source_stride,
                 std::int64_t rows, std::int64_t columns) {
  using T = std::complex<double>;
  constexpr std::int64_t kSide = 4;
  auto* to = static_cast<T*>(target);
  const auto* from = static_cast<const T*>(source);
  transpose_blocks(to, target_stride, from, source_stride, rows, columns, kSide,
                   [&](T* t, const T* s, std::int64_t height, std::int64_t width) {
                     transpose_plain(t, target_stride, s, source_stride, height, width);
                   });
}

}  // namespace eindb::EINDB_LEVEL
