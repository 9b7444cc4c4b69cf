#include <algorithm>
#include <complex>

#include "executor/kernels/levels/element_tables.hpp"
#include "executor/kernels/levels/square.hpp"

namespace eindb::EINDB_LEVEL {
namespace {

template <class T>
void transpose_square(T* target, std::int64_t target_stride, const T* source, std::int64_t source_stride) {
  Square<T> square;
  unrolled<Square<T>::kSide>([&](auto r)
                                 __attribute__((always_inline)) { square.set(r, load(source + r * source_stride)); });
  square.transpose();
  unrolled<Square<T>::kSide>([&](auto c)
                                 __attribute__((always_inline)) { store(target + c * target_stride, square.get(c)); });
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
template <class T>
void transpose_vectors(void* target, std::int64_t target_stride, const void* source, std::int64_t source_stride,
                       std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kSide = Square<T>::kSide;
  const auto square = [&](T* to, const T* from, std::int64_t height, std::int64_t width) {
    if (height == kSide && width == kSide) transpose_square(to, target_stride, from, source_stride);
    else if (pays_as_square<T>(height, width)) transpose_part(to, target_stride, from, source_stride, height, width);
    else transpose_plain(to, target_stride, from, source_stride, height, width);
  };
  transpose_blocks(static_cast<T*>(target), target_stride, static_cast<const T*>(source), source_stride, rows, columns,
                   kSide, square);
}

}  // namespace

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
