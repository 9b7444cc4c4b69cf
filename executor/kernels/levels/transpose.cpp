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

template <class T>
void transpose_plain(T* target, std::int64_t target_stride, const T* source, std::int64_t source_stride,
                     std::int64_t rows, std::int64_t columns) {
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t r = 0; r < rows; ++r) target[c * target_stride + r] = source[r * source_stride + c];
}

// Blocks small enough that the lines of both sides stay in the first-level cache until they are used up.
constexpr std::int64_t kBlock = 64;

template <class T, class Square>
void transpose_blocks(T* target, std::int64_t target_stride, const T* source, std::int64_t source_stride,
                      std::int64_t rows, std::int64_t columns, std::int64_t side, Square square) {
  for (std::int64_t r0 = 0; r0 < rows; r0 += kBlock) {
    const auto r1 = std::min(rows, r0 + kBlock);
    for (std::int64_t c = 0; c < columns;) {
      const auto width = std::min(side, columns - c);
      std::int64_t r = r0;
      if (width == side)
        for (; r + side <= r1; r += side) square(target + c * target_stride + r, source + r * source_stride + c);
      transpose_plain(target + c * target_stride + r, target_stride, source + r * source_stride + c, source_stride,
                      r1 - r, width);
      c += width;
    }
  }
}

// Moves only: a number's bits pass unchanged through the vector registers of any type of its size.
template <class T>
void transpose_vectors(void* target, std::int64_t target_stride, const void* source, std::int64_t source_stride,
                       std::int64_t rows, std::int64_t columns) {
  constexpr int kSide = Square<T>::kSide;
  transpose_blocks(static_cast<T*>(target), target_stride, static_cast<const T*>(source), source_stride, rows, columns,
                   kSide, [&](T* to, const T* from) { transpose_square(to, target_stride, from, source_stride); });
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
                   [&](T* t, const T* s) { transpose_plain(t, target_stride, s, source_stride, kSide, kSide); });
}

}  // namespace eindb::EINDB_LEVEL
