#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "executor/kernels/level_table.hpp"
#include "executor/kernels/levels/exponential.hpp"
#include "tensor/scalar_semantics.hpp"

/// Element-wise operations on blocks, with the semantics of tensor/scalar_semantics.hpp for each element. The compiler
/// vectorises the plain loops below; Eigen is used for operations that it cannot vectorise.
namespace eindb::EINDB_LEVEL {

/// A block operation from a function of one value; F is a captureless lambda.
template <class T, class F>
ElementTable::Unary unary_of(F) {
  return [](void* to, const void* a, std::int64_t count) {
    auto* __restrict out = static_cast<T*>(to);
    const auto* __restrict in = static_cast<const T*>(a);
    for (std::int64_t i = 0; i < count; ++i) out[i] = F{}(in[i]);
  };
}

template <class T, class F>
ElementTable::Binary binary_of(F) {
  return [](void* to, Values a, Values b, std::int64_t count) {
    auto* __restrict out = static_cast<T*>(to);
    const auto* x = static_cast<const T*>(a.data);
    const auto* y = static_cast<const T*>(b.data);
    if (a.step == 0) {
      const T x0 = *x;
      for (std::int64_t i = 0; i < count; ++i) out[i] = F{}(x0, y[i * b.step]);
    } else if (b.step == 0) {
      const T y0 = *y;
      for (std::int64_t i = 0; i < count; ++i) out[i] = F{}(x[i], y0);
    } else {
      for (std::int64_t i = 0; i < count; ++i) out[i] = F{}(x[i], y[i]);
    }
  };
}

/// Like unary_of, for functions that Eigen has vector code for. Its results are exact to a few units in the last place
/// where F::covers(x); for other elements (infinities, NaN, denormals, overflow) F::exact is used. Equal elements give
/// equal results wherever they stand: the last ones, too, are computed in whole vectors, as the scalar function of the
/// library may differ in the last bit.
template <class T, class F>
void patched(void* to, const void* a, std::int64_t count) {
  auto* __restrict out = static_cast<T*>(to);
  const auto* __restrict in = static_cast<const T*>(a);
  // A loop for both kinds of blocks makes TANH take 1.5 times as long.
  constexpr int kVector = 64 / sizeof(T);
  std::int64_t begin = 0;
  for (Eigen::Array<T, 8 * kVector, 1> block; begin + block.size() <= count; begin += block.size()) {
    std::copy_n(in + begin, block.size(), block.data());
    block = F::vectorised(block);
    std::copy_n(block.data(), block.size(), out + begin);
  }
  for (Eigen::Array<T, kVector, 1> block; begin < count; begin += block.size()) {
    const auto size = std::min<std::int64_t>(block.size(), count - begin);
    block.setZero();
    std::copy_n(in + begin, size, block.data());
    block = F::vectorised(block);
    std::copy_n(block.data(), size, out + begin);
  }
  std::int64_t uncovered = 0;
  for (std::int64_t i = 0; i < count; ++i) uncovered += F::covers(in[i]) ? 0 : 1;
  if (uncovered == 0) return;
  for (std::int64_t i = 0; i < count; ++i)
    if (!F::covers(in[i])) out[i] = F::exact(in[i]);
}

template <class T>
inline constexpr bool kSingle = std::is_same_v<T, float>;

struct VectorExp {
  static auto vectorised(const auto& x) { return x.exp(); }
  static bool covers(double x) { return std::abs(x) < 708; }
  static double exact(double x) { return std::exp(x); }
};
template <class T>
void exponentials(void* to, const void* a, std::int64_t count) {
  if constexpr (kSingle<T>) exp_floats(to, a, count);
  else patched<T, VectorExp>(to, a, count);
}
template <class T>
struct VectorLog {
  static auto vectorised(const auto& x) { return x.log(); }
  static bool covers(T x) { return x >= std::numeric_limits<T>::min() && x <= std::numeric_limits<T>::max(); }
  static T exact(T x) { return std::log(x); }
};
struct VectorSin {
  static auto vectorised(const auto& x) { return x.sin(); }
  static bool covers(float x) { return std::abs(x) < 8192.0F; }
  static float exact(float x) { return std::sin(x); }
};
struct VectorCos {
  static auto vectorised(const auto& x) { return x.cos(); }
  static bool covers(float x) { return std::abs(x) < 8192.0F; }
  static float exact(float x) { return std::cos(x); }
};
struct VectorTanh {
  static auto vectorised(const auto& x) { return x.tanh(); }
  static bool covers(float x) { return std::abs(x) < 7.0F; }
  static float exact(float x) { return std::tanh(x); }
};

template <class T>
void sigmoid(void* to, const void* a, std::int64_t count) {
  auto* __restrict out = static_cast<T*>(to);
  const auto* __restrict in = static_cast<const T*>(a);
  constexpr std::int64_t kBlock = 256;
  T negated[kBlock];
  for (std::int64_t begin = 0; begin < count; begin += kBlock) {
    const auto size = std::min(kBlock, count - begin);
    for (std::int64_t i = 0; i < size; ++i) negated[i] = -in[begin + i];
    exponentials<T>(out + begin, negated, size);
    for (std::int64_t i = 0; i < size; ++i) out[begin + i] = T(1) / (T(1) + out[begin + i]);
  }
}

// Complex products as C++ defines them: by the plain formula, and again by the library if both parts are NaN, to
// recover infinities. Only the plain formula is vectorised.
template <class T>
void multiply_complex(void* to, Values a, Values b, std::int64_t count) {
  auto* __restrict out = static_cast<T*>(to);
  const auto* x = static_cast<const T*>(a.data);
  const auto* y = static_cast<const T*>(b.data);
  std::int64_t suspicious = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto p = x[i * a.step];
    const auto q = y[i * b.step];
    const auto re = p.real() * q.real() - p.imag() * q.imag();
    const auto im = p.real() * q.imag() + p.imag() * q.real();
    suspicious += re != re ? 1 : 0;
    out[i] = T(re, im);
  }
  if (suspicious == 0) return;
  for (std::int64_t i = 0; i < count; ++i) out[i] = x[i * a.step] * y[i * b.step];
}

template <class T, bool kYesStep, bool kNoStep>
void select_loop(T* __restrict out, const T* condition, const T* yes, const T* no, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T y = yes[kYesStep ? i : 0];
    const T n = no[kNoStep ? i : 0];
    out[i] = condition[i] != T(0) ? y : n;
  }
}

template <class T>
void select(void* to, const void* condition, Values yes, Values no, std::int64_t count) {
  auto* out = static_cast<T*>(to);
  const auto* c = static_cast<const T*>(condition);
  const auto* y = static_cast<const T*>(yes.data);
  const auto* n = static_cast<const T*>(no.data);
  if (yes.step != 0) {
    if (no.step != 0) select_loop<T, true, true>(out, c, y, n, count);
    else select_loop<T, true, false>(out, c, y, n, count);
  } else {
    if (no.step != 0) select_loop<T, false, true>(out, c, y, n, count);
    else select_loop<T, false, false>(out, c, y, n, count);
  }
}

template <class T>
void ramp(void* to, std::int64_t begin, std::int64_t row_step, std::int64_t column_step, std::int64_t rows,
          std::int64_t columns) {
  auto* out = static_cast<T*>(to);
  for (std::int64_t r = 0; r < rows; ++r, out += columns) {
    const auto row = bits(begin) + bits(r) * bits(row_step);
    for (std::int64_t c = 0; c < columns; ++c) out[c] = static_cast<T>(wrapped(row + bits(c) * bits(column_step)));
  }
}
template <class T>
requires is_complex_type<T>
void ramp_complex(void* to, std::int64_t begin, std::int64_t row_step, std::int64_t column_step, std::int64_t rows,
                  std::int64_t columns) {
  auto* out = static_cast<T*>(to);
  for (std::int64_t r = 0; r < rows; ++r, out += columns) {
    const auto row = bits(begin) + bits(r) * bits(row_step);
    for (std::int64_t c = 0; c < columns; ++c)
      out[c] = T(static_cast<typename T::value_type>(wrapped(row + bits(c) * bits(column_step))));
  }
}

template <class T>
struct RealType {
  using type = T;
};
template <class R>
struct RealType<std::complex<R>> {
  using type = R;
};
// Branch-free, and propagates NaN. Of equal values the first is returned. Complex values are compared by their real
// parts.
template <class T>
T least(T a, T b) {
  const auto x = ordered_part(a);
  const auto y = ordered_part(b);
  return (((y != y) | (y < x)) & (x == x)) ? b : a;
}
template <class T>
T greatest(T a, T b) {
  const auto x = ordered_part(a);
  const auto y = ordered_part(b);
  return (((y != y) | (x < y)) & (x == x)) ? b : a;
}

template <class T>
T absolute(T a) {
  if constexpr (std::is_integral_v<T>) return a < 0 ? scalar_subtract(T(0), a) : a;
  else return T(std::abs(a));
}
template <class T>
T negative(T a) {
  if constexpr (std::is_integral_v<T>) return scalar_subtract(T(0), a);
  else return -a;
}
template <class T>
T imaginary_part(T a) {
  if constexpr (is_complex_type<T>) return T(a.imag());
  else return T(0);
}
template <class T>
T conjugate(T a) {
  if constexpr (is_complex_type<T>) return std::conj(a);
  else return a;
}

/// Operations with the same definition for all types.
template <class T>
void fill_common(ElementTable& table) {
  const auto unary = [&](ScalarOp op, auto f) { table.unary[slot_of(op)] = unary_of<T>(f); };
  const auto binary = [&](ScalarOp op, auto f) { table.binary[slot_of(op)] = binary_of<T>(f); };
  using enum ScalarOp;
  binary(Add, [](T a, T b) { return scalar_add(a, b); });
  binary(Subtract, [](T a, T b) { return scalar_subtract(a, b); });
  if constexpr (is_complex_type<T>) table.binary[slot_of(Multiply)] = multiply_complex<T>;
  else binary(Multiply, [](T a, T b) { return scalar_multiply(a, b); });
  binary(Power, [](T a, T b) { return scalar_power(a, b); });
  binary(Equal, [](T a, T b) { return truth<T>(a == b); });
  binary(NotEqual, [](T a, T b) { return truth<T>(a != b); });
  binary(And, [](T a, T b) { return truth<T>((a != T(0)) & (b != T(0))); });
  binary(Or, [](T a, T b) { return truth<T>((a != T(0)) | (b != T(0))); });
  unary(Negate, [](T a) { return negative(a); });
  unary(Not, [](T a) { return truth<T>(a == T(0)); });
  unary(Abs, [](T a) { return absolute(a); });
  unary(Real, [](T a) { return T(ordered_part(a)); });
  unary(Imag, [](T a) { return imaginary_part(a); });
  unary(Conj, [](T a) { return conjugate(a); });
  table.select = select<T>;
  if constexpr (is_complex_type<T>) {
    binary(MakeComplex, [](T a, T b) { return T(a.real(), b.real()); });
    table.ramp = ramp_complex<T>;
  } else {
    table.ramp = ramp<T>;
  }
}

/// Operations that need an order. In complex expressions their arguments are values like REAL(z) with imaginary part
/// zero, so they use the real parts.
template <class T>
struct OrderedOps {
  using R = typename RealType<T>::type;
  ElementTable& table;

  template <class F>
  void unary(ScalarOp op, F) const {
    table.unary[slot_of(op)] = unary_of<T>([](T a) { return T(F{}(ordered_part(a))); });
  }
  template <class F>
  void binary(ScalarOp op, F) const {
    table.binary[slot_of(op)] = binary_of<T>([](T a, T b) { return T(F{}(ordered_part(a), ordered_part(b))); });
  }
};

template <class T>
void fill_ordered(ElementTable& table) {
  const OrderedOps<T> on{table};
  using R = typename OrderedOps<T>::R;
  using enum ScalarOp;
  on.binary(Modulo, [](R a, R b) { return scalar_modulo(a, b); });
  on.binary(Less, [](R a, R b) { return truth<R>(a < b); });
  on.binary(LessEqual, [](R a, R b) { return truth<R>(a <= b); });
  on.binary(Greater, [](R a, R b) { return truth<R>(a > b); });
  on.binary(GreaterEqual, [](R a, R b) { return truth<R>(a >= b); });
  on.binary(Least, [](R a, R b) { return least(a, b); });
  on.binary(Greatest, [](R a, R b) { return greatest(a, b); });
  on.unary(Sign, [](R a) { return a != a ? a : truth<R>(R(0) < a) - truth<R>(a < R(0)); });
  on.unary(Relu, [](R a) { return greatest(a, R(0)); });
  // Integers are their own floor, ceiling and nearest integer.
  if constexpr (std::is_integral_v<T>) {
    for (const auto op : {Floor, Ceil, Round}) on.unary(op, [](R a) { return a; });
    on.binary(BitAnd, [](R a, R b) { return a & b; });
    on.binary(BitOr, [](R a, R b) { return a | b; });
    on.binary(BitXor, [](R a, R b) { return a ^ b; });
    on.binary(ShiftLeft, [](R a, R b) { return shifted_left(a, b); });
    on.binary(ShiftRight, [](R a, R b) { return shifted_right(a, b); });
    on.unary(BitNot, [](R a) { return ~a; });
  } else {
    on.unary(Floor, [](R a) { return std::floor(a); });
    on.unary(Ceil, [](R a) { return std::ceil(a); });
    on.unary(Round, [](R a) { return std::nearbyint(a); });
    on.unary(Log2, [](R a) { return std::log2(a); });
    on.unary(Log1p, [](R a) { return std::log1p(a); });
    on.unary(Expm1, [](R a) { return std::expm1(a); });
    on.unary(Asin, [](R a) { return std::asin(a); });
    on.unary(Acos, [](R a) { return std::acos(a); });
    on.unary(Atan, [](R a) { return std::atan(a); });
    on.unary(Erf, [](R a) { return std::erf(a); });
    on.unary(Sigmoid, [](R a) { return R(1) / (R(1) + std::exp(-a)); });
    on.binary(Atan2, [](R a, R b) { return std::atan2(a, b); });
  }
}

/// Quotients and transcendental functions; INT64 has none, since they are computed in FLOAT64.
template <class T>
void fill_floating(ElementTable& table) {
  const auto unary = [&](ScalarOp op, auto f) { table.unary[slot_of(op)] = unary_of<T>(f); };
  using enum ScalarOp;
  table.binary[slot_of(Divide)] = binary_of<T>([](T a, T b) { return a / b; });
  unary(Sqrt, [](T a) { return std::sqrt(a); });
  unary(Exp, [](T a) { return std::exp(a); });
  unary(Log, [](T a) { return std::log(a); });
  unary(Sin, [](T a) { return std::sin(a); });
  unary(Cos, [](T a) { return std::cos(a); });
  unary(Tan, [](T a) { return std::tan(a); });
  unary(Sinh, [](T a) { return std::sinh(a); });
  unary(Cosh, [](T a) { return std::cosh(a); });
  unary(Tanh, [](T a) { return std::tanh(a); });
  if constexpr (std::is_floating_point_v<T>) {
    table.unary[slot_of(Exp)] = exponentials<T>;
    table.unary[slot_of(Log)] = patched<T, VectorLog<T>>;
    table.unary[slot_of(Sigmoid)] = sigmoid<T>;
  }
  if constexpr (kSingle<T>) {
    table.unary[slot_of(Sin)] = patched<T, VectorSin>;
    table.unary[slot_of(Cos)] = patched<T, VectorCos>;
    table.unary[slot_of(Tanh)] = patched<T, VectorTanh>;
  }
}

}  // namespace eindb::EINDB_LEVEL
