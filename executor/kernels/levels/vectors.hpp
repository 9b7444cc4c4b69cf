#pragma once

#include <complex>
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

/// Vector registers of this level, by the compilers' vector extension: arithmetic on them is written as on numbers.
namespace eindb::EINDB_LEVEL {

#if defined(__AVX512F__)
inline constexpr std::int64_t kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr std::int64_t kVectorBytes = 32;
#else
inline constexpr std::int64_t kVectorBytes = 16;
#endif

template <class T>
struct VectorType {
  typedef T Register __attribute__((vector_size(kVectorBytes)));
  typedef T Unaligned __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
};
template <class T>
using Vector = typename VectorType<T>::Register;
template <class T>
inline constexpr std::int64_t kLanes = kVectorBytes / static_cast<std::int64_t>(sizeof(T));

template <class T>
[[gnu::always_inline]] inline Vector<T> load(const T* from) {
  return *reinterpret_cast<const typename VectorType<T>::Unaligned*>(from);
}
template <class T>
[[gnu::always_inline]] inline void store(T* to, Vector<T> value) {
  *reinterpret_cast<typename VectorType<T>::Unaligned*>(to) = value;
}
template <class T>
[[gnu::always_inline]] inline Vector<T> broadcast(T value) {
  return value - Vector<T>{};
}

/// Calls body(0), body(1), ... body(kCount - 1) with compile-time numbers: local arrays that are indexed by them stay
/// in registers.
template <int kCount, class Body>
[[gnu::always_inline]] constexpr inline void unrolled(const Body& body) {
  [&]<int... kIndex>(std::integer_sequence<int, kIndex...>) __attribute__((always_inline)) {
    (body(std::integral_constant<int, kIndex>{}), ...);
  }
  (std::make_integer_sequence<int, kCount>{});
}

/// The first `count` elements, 0 < count < kLanes; the others of a loaded vector are zero. Touches no memory beyond.
template <class T>
[[gnu::always_inline]] inline Vector<T> load_part(const T* from, std::int64_t count) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    return reinterpret_cast<Vector<T>>(_mm512_maskz_loadu_epi32(static_cast<__mmask16>((1U << count) - 1U), from));
  } else {
    return reinterpret_cast<Vector<T>>(_mm512_maskz_loadu_epi64(static_cast<__mmask8>((1U << count) - 1U), from));
  }
#else
  Vector<T> value{};
  std::memcpy(&value, from, static_cast<std::size_t>(count) * sizeof(T));
  return value;
#endif
}
template <class T>
[[gnu::always_inline]] inline void store_part(T* to, Vector<T> value, std::int64_t count) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    _mm512_mask_storeu_epi32(to, static_cast<__mmask16>((1U << count) - 1U), reinterpret_cast<__m512i>(value));
  } else {
    _mm512_mask_storeu_epi64(to, static_cast<__mmask8>((1U << count) - 1U), reinterpret_cast<__m512i>(value));
  }
#else
  std::memcpy(to, &value, static_cast<std::size_t>(count) * sizeof(T));
#endif
}

}  // namespace eindb::EINDB_LEVEL
