#pragma once

#include <immintrin.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

/// Vector registers of this level by the compilers' vector extension; arithmetic on them is written like that on
/// numbers.
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
/// Stores past the caches; `to` is aligned to a vector.
template <class T>
[[gnu::always_inline]] inline void stream(T* to, Vector<T> value) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<__m512i>(value));
#elif defined(__AVX2__)
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(value));
#else
  _mm_stream_si128(reinterpret_cast<__m128i*>(to), reinterpret_cast<__m128i>(value));
#endif
}
template <class T>
[[gnu::always_inline]] inline Vector<T> broadcast(T value) {
  return value - Vector<T>{};
}

/// Calls body(0), body(1), ... body(kCount - 1) with compile-time constants, so that local arrays indexed by them stay
/// in registers.
template <int kCount, class Body>
[[gnu::always_inline]] constexpr inline void unrolled(const Body& body) {
  [&]<int... kIndex>(std::integer_sequence<int, kIndex...>) __attribute__((always_inline)) {
    (body(std::integral_constant<int, kIndex>{}), ...);
  }
  (std::make_integer_sequence<int, kCount>{});
}

#if defined(__AVX2__) && !defined(__AVX512F__)
/// A mask with all bits set in the first `count` lanes of T's size.
template <class T>
[[gnu::always_inline]] inline __m256i lane_mask(std::int64_t count) {
  if constexpr (sizeof(T) == 4) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  } else {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
  }
}
#endif

/// Loads the first `count` elements, 0 < count <= kLanes; the other lanes are zero. Does not access memory beyond.
template <class T>
[[gnu::always_inline]] inline Vector<T> load_part(const T* from, std::int64_t count) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    return reinterpret_cast<Vector<T>>(_mm512_maskz_loadu_epi32(static_cast<__mmask16>((1U << count) - 1U), from));
  } else {
    return reinterpret_cast<Vector<T>>(_mm512_maskz_loadu_epi64(static_cast<__mmask8>((1U << count) - 1U), from));
  }
#elif defined(__AVX2__)
  const auto mask = lane_mask<T>(count);
  if constexpr (sizeof(T) == 4) {
    return reinterpret_cast<Vector<T>>(_mm256_maskload_epi32(reinterpret_cast<const int*>(from), mask));
  } else {
    return reinterpret_cast<Vector<T>>(_mm256_maskload_epi64(reinterpret_cast<const long long*>(from), mask));
  }
#else
  Vector<T> value{};
  if (count == 1) std::memcpy(&value, from, sizeof(T));
  else if (count == 2) std::memcpy(&value, from, 2 * sizeof(T));
  else if (count == 3) std::memcpy(&value, from, std::min(3 * sizeof(T), sizeof value));
  else std::memcpy(&value, from, sizeof value);
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
#elif defined(__AVX2__)
  const auto mask = lane_mask<T>(count);
  if constexpr (sizeof(T) == 4) {
    _mm256_maskstore_epi32(reinterpret_cast<int*>(to), mask, reinterpret_cast<__m256i>(value));
  } else {
    _mm256_maskstore_epi64(reinterpret_cast<long long*>(to), mask, reinterpret_cast<__m256i>(value));
  }
#else
  if (count == 1) std::memcpy(to, &value, sizeof(T));
  else if (count == 2) std::memcpy(to, &value, 2 * sizeof(T));
  else if (count == 3) std::memcpy(to, &value, std::min(3 * sizeof(T), sizeof value));
  else std::memcpy(to, &value, sizeof value);
#endif
}

/// Vectors of half the size, which widen to a whole vector.
template <class T>
struct HalfVectorType {
  typedef T Register __attribute__((vector_size(kVectorBytes / 2)));
  typedef T Unaligned __attribute__((vector_size(kVectorBytes / 2), aligned(alignof(T)), may_alias));
};

/// As many elements of T as a vector of W has lanes; W has the size of T or twice that.
template <class T, class W>
using PieceType = std::conditional_t<sizeof(T) == sizeof(W), VectorType<T>, HalfVectorType<T>>;
template <class T, class W>
using Piece = typename PieceType<T, W>::Register;

template <class T, class W>
[[gnu::always_inline]] inline Piece<T, W> load_piece(const T* from) {
  return *reinterpret_cast<const typename PieceType<T, W>::Unaligned*>(from);
}
/// Loads the first `count` elements, like load_part.
template <class T, class W>
[[gnu::always_inline]] inline Piece<T, W> load_piece_part(const T* from, std::int64_t count) {
  if constexpr (sizeof(T) == sizeof(W)) {
    return load_part(from, count);
  } else {
#if defined(__AVX512VL__)
    static_assert(sizeof(T) == 4);
    return reinterpret_cast<Piece<T, W>>(_mm256_maskz_loadu_epi32(static_cast<__mmask8>((1U << count) - 1U), from));
#else
    Piece<T, W> value{};
    std::memcpy(&value, from, static_cast<std::size_t>(count) * sizeof(T));
    return value;
#endif
  }
}

/// Converts a piece to a vector. GCC 12 would use four instructions for this one.
template <class T, class W>
[[gnu::always_inline]] inline Vector<W> widened(Piece<T, W> values) {
  if constexpr (sizeof(T) == sizeof(W)) {
    return values;
  } else {
    static_assert(std::is_same_v<T, float>);
#if defined(__AVX512F__)
    return _mm512_cvtps_pd(values);
#elif defined(__AVX2__)
    return _mm256_cvtps_pd(values);
#else
    return __builtin_convertvector(values, Vector<W>);
#endif
  }
}

/// The result has `value` in the first `count` lanes and `otherwise` in the others.
template <class T>
[[gnu::always_inline]] inline Vector<T> first_lanes(Vector<T> value, std::int64_t count, Vector<T> otherwise) {
  using Number = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  const auto lane = []<int... kIndex>(std::integer_sequence<int, kIndex...>) __attribute__((always_inline)) {
    return Vector<Number>{kIndex...};
  }
  (std::make_integer_sequence<int, static_cast<int>(kLanes<T>)>{});
  return lane < broadcast(static_cast<Number>(count)) ? value : otherwise;
}

/// The result has every second group of kGroup lanes of the concatenation of two vectors, starting with group kFrom.
template <int kGroup, int kFrom, class T>
[[gnu::always_inline]] inline Vector<T> every_second(Vector<T> a, Vector<T> b) {
  return [&]<int... kIndex>(std::integer_sequence<int, kIndex...>) __attribute__((always_inline)) {
    return __builtin_shufflevector(a, b, ((kIndex / kGroup * 2 + kFrom) * kGroup + kIndex % kGroup)...);
  }
  (std::make_integer_sequence<int, static_cast<int>(kLanes<T>)>{});
}

// The greater or lesser of two values; the second argument if neither is (NaN). Each is one instruction, which
// compilers do not generate by themselves.
#if defined(__AVX512F__)
inline Vector<float> greater_of(Vector<float> a, Vector<float> b) { return _mm512_max_ps(a, b); }
inline Vector<float> lesser_of(Vector<float> a, Vector<float> b) { return _mm512_min_ps(a, b); }
inline Vector<double> greater_of(Vector<double> a, Vector<double> b) { return _mm512_max_pd(a, b); }
inline Vector<double> lesser_of(Vector<double> a, Vector<double> b) { return _mm512_min_pd(a, b); }
#elif defined(__AVX2__)
inline Vector<float> greater_of(Vector<float> a, Vector<float> b) { return _mm256_max_ps(a, b); }
inline Vector<float> lesser_of(Vector<float> a, Vector<float> b) { return _mm256_min_ps(a, b); }
inline Vector<double> greater_of(Vector<double> a, Vector<double> b) { return _mm256_max_pd(a, b); }
inline Vector<double> lesser_of(Vector<double> a, Vector<double> b) { return _mm256_min_pd(a, b); }
#else
inline Vector<float> greater_of(Vector<float> a, Vector<float> b) { return _mm_max_ps(a, b); }
inline Vector<float> lesser_of(Vector<float> a, Vector<float> b) { return _mm_min_ps(a, b); }
inline Vector<double> greater_of(Vector<double> a, Vector<double> b) { return _mm_max_pd(a, b); }
inline Vector<double> lesser_of(Vector<double> a, Vector<double> b) { return _mm_min_pd(a, b); }
#endif
inline Vector<std::int64_t> greater_of(Vector<std::int64_t> a, Vector<std::int64_t> b) { return a > b ? a : b; }
inline Vector<std::int64_t> lesser_of(Vector<std::int64_t> a, Vector<std::int64_t> b) { return a < b ? a : b; }

}  // namespace eindb::EINDB_LEVEL
