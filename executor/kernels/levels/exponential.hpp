#pragma once

#include "executor/kernels/levels/vectors.hpp"

/// The exponential function of FLOAT32 for all values: infinite and denormal results and NaN need no special treatment.
namespace eindb::EINDB_LEVEL {

/// Exact within two units in the last place. x = n ln 2 + r with |r| <= ln 2 / 2 gives 2^n exp(r). ln 2 is split into
/// two parts so that n times the first is exact, and exp(r) is Cephes' polynomial (expf.c).
[[gnu::always_inline]] inline Vector<float> exp_lanes(Vector<float> x) {
  // Beyond these bounds results are infinite or 0. If either value is NaN, the functions return their second argument.
  x = lesser_of(broadcast(89.5F), greater_of(broadcast(-105.0F), x));
  constexpr float kRounding = 0x1.8p23F;  // adding it removes the fraction
  const Vector<float> n = (x * 1.44269504088896341F + kRounding) - kRounding;
  const Vector<float> r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
  Vector<float> sum = broadcast(1.9875691500e-4F);
  for (const float c : {1.3981999507e-3F, 8.3334519073e-3F, 4.1665795894e-2F, 1.6666665459e-1F, 5.0000001201e-1F})
    sum = sum * r + c;
  sum = sum * r * r + r + 1.0F;
#if defined(__AVX512F__)
  return _mm512_scalef_ps(sum, n);
#else
  // Scaled by two halves of n, since 2^n may overflow or underflow although the result does not.
  using Bits = Vector<std::int32_t>;
  const auto exponent = __builtin_convertvector(n, Bits);
  const Bits half = exponent >> 1;
  const auto power = [](Bits of) __attribute__((always_inline)) {
    return reinterpret_cast<Vector<float>>((of + 127) << 23);
  };
  return sum * power(half) * power(exponent - half);
#endif
}

inline void exp_floats(void* to, const void* a, std::int64_t count) {
  auto* out = static_cast<float*>(to);
  const auto* in = static_cast<const float*>(a);
  std::int64_t i = 0;
  for (; i + kLanes<float> <= count; i += kLanes<float>) store(out + i, exp_lanes(load(in + i)));
  if (i < count) store_part(out + i, exp_lanes(load_part(in + i, count - i)), count - i);
}

}  // namespace eindb::EINDB_LEVEL
