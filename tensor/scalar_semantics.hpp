#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tensor/einsum.hpp"
#include "tensor/scalar_expression.hpp"

namespace eindb {

/// The semantics of each scalar operation, for one value at a time: the definition with which kernels are compared. T
/// is float, double, their complex types, or int64_t (which wraps on overflow).

template <class T>
inline constexpr bool is_complex_type = !std::is_arithmetic_v<T>;

template <class T>
T truth(bool value) {
  return value ? T(1) : T(0);
}

/// INT64 arithmetic wraps, as in NumPy, without undefined behaviour.
inline std::int64_t wrapped(std::uint64_t value) { return static_cast<std::int64_t>(value); }
inline std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

template <class T>
T scalar_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) return wrapped(bits(a) + bits(b));
  else return a + b;
}
template <class T>
T scalar_subtract(T a, T b) {
  if constexpr (std::is_integral_v<T>) return wrapped(bits(a) - bits(b));
  else return a - b;
}
template <class T>
T scalar_multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>) return wrapped(bits(a) * bits(b));
  else return a * b;
}

/// The remainder with the divisor's sign; 0 for an INT64 divisor of 0.
template <class T>
T scalar_modulo(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0 || b == -1) return 0;
    const T r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  } else {
    const T r = std::fmod(a, b);
    if (r == T(0)) return std::copysign(T(0), b);
    return (r < T(0)) != (b < T(0)) ? r + b : r;
  }
}

template <class T>
T scalar_power(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    std::uint64_t result = 1;
    std::uint64_t base = bits(a);
    for (auto e = bits(b); e != 0; e >>= 1U, base *= base)
      if ((e & 1U) != 0) result *= base;
    return wrapped(result);
  } else if constexpr (is_complex_type<T>) {
    // As in NumPy: anything to the power 0 is 1, and powers of 0 are computed without a logarithm.
    if (b == T(0)) return T(1);
    if (a == T(0) && b.imag() == 0 && b.real() > 0) return T(0);
    return std::pow(a, b);
  } else {
    return std::pow(a, b);
  }
}

template <class T>
bool is_nan(T a) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(a);
  else if constexpr (is_complex_type<T>) return std::isnan(a.real()) || std::isnan(a.imag());
  else return false;
}

/// The part of a value that ordered operations use. In complex expressions they only meet values like REAL(z), whose
/// imaginary part is zero.
template <class T>
auto ordered_part(T a) {
  if constexpr (is_complex_type<T>) return a.real();
  else return a;
}

template <class T>
T scalar_least(T a, T b) {
  if (is_nan(ordered_part(a))) return a;
  return is_nan(ordered_part(b)) || ordered_part(b) < ordered_part(a) ? b : a;
}
template <class T>
T scalar_greatest(T a, T b) {
  if (is_nan(ordered_part(a))) return a;
  return is_nan(ordered_part(b)) || ordered_part(a) < ordered_part(b) ? b : a;
}

/// `a` times 2 to the power `n`, without the bits beyond 64; for a negative n, the quotient, rounded down.
inline std::int64_t shifted_left(std::int64_t a, std::int64_t n) {
  constexpr std::int64_t kBits = 64;
  if (n >= 0) return n < kBits ? wrapped(bits(a) << static_cast<unsigned>(n)) : 0;
  return a >> static_cast<unsigned>(n > -kBits ? -n : kBits - 1);
}
inline std::int64_t shifted_right(std::int64_t a, std::int64_t n) {
  constexpr std::int64_t kBits = 64;
  if (n >= 0) return a >> static_cast<unsigned>(n < kBits ? n : kBits - 1);
  return n > -kBits ? wrapped(bits(a) << static_cast<unsigned>(-n)) : 0;
}

/// Operations on the bits of INT64.
inline std::int64_t apply_to_bits(ScalarOp op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case ScalarOp::BitAnd: return wrapped(bits(a) & bits(b));
    case ScalarOp::BitOr: return wrapped(bits(a) | bits(b));
    case ScalarOp::BitXor: return wrapped(bits(a) ^ bits(b));
    case ScalarOp::ShiftLeft: return shifted_left(a, b);
    case ScalarOp::ShiftRight: return shifted_right(a, b);
    default: return wrapped(~bits(a));
  }
}

/// Operations with one or two arguments on floating and complex values; the former ignore `b`.
template <class T>
T apply_floating(ScalarOp op, T a, T b) {
  using enum ScalarOp;
  switch (op) {
    case Divide: return a / b;
    case Sqrt: return std::sqrt(a);
    case Exp: return std::exp(a);
    case Log: return std::log(a);
    case Sin: return std::sin(a);
    case Cos: return std::cos(a);
    case Tan: return std::tan(a);
    case Sinh: return std::sinh(a);
    case Cosh: return std::cosh(a);
    case Tanh: return std::tanh(a);
    default: break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    switch (op) {
      case Log2: return std::log2(a);
      case Log1p: return std::log1p(a);
      case Expm1: return std::expm1(a);
      case Asin: return std::asin(a);
      case Acos: return std::acos(a);
      case Atan: return std::atan(a);
      case Erf: return std::erf(a);
      case Sigmoid: return T(1) / (T(1) + std::exp(-a));
      case Atan2: return std::atan2(a, b);
      case Floor: return std::floor(a);
      case Ceil: return std::ceil(a);
      case Round: return std::nearbyint(a);
      default: break;
    }
  }
  return T(std::numeric_limits<double>::quiet_NaN());
}

/// Operations that need an order; real types only.
template <class T>
T apply_ordered(ScalarOp op, T a, T b) {
  using enum ScalarOp;
  switch (op) {
    case Modulo: return scalar_modulo(a, b);
    case Sign: return is_nan(a) ? a : T((T(0) < a) - (a < T(0)));
    case Relu: return scalar_greatest(a, T(0));
    case Less: return truth<T>(a < b);
    case LessEqual: return truth<T>(a <= b);
    case Greater: return truth<T>(a > b);
    case GreaterEqual: return truth<T>(a >= b);
    case Least: return scalar_least(a, b);
    case Greatest: return scalar_greatest(a, b);
    default: return a;  // Floor, Ceil, Round of INT64
  }
}

/// One operation on one or two values; callers fold operations with more arguments from the left.
template <class T>
T apply_scalar(ScalarOp op, T a, T b = T(0)) {
  using enum ScalarOp;
  switch (op) {
    case Add: return scalar_add(a, b);
    case Subtract: return scalar_subtract(a, b);
    case Multiply: return scalar_multiply(a, b);
    case Power: return scalar_power(a, b);
    case Negate:
      if constexpr (std::is_integral_v<T>) return scalar_subtract(T(0), a);
      else return -a;
    case Not: return truth<T>(a == T(0));
    case Equal: return truth<T>(a == b);
    case NotEqual: return truth<T>(a != b);
    case And: return truth<T>(a != T(0) && b != T(0));
    case Or: return truth<T>(a != T(0) || b != T(0));
    case Abs:
      if constexpr (std::is_integral_v<T>) return a < 0 ? scalar_subtract(T(0), a) : a;
      else return T(std::abs(a));
    case Real:
      if constexpr (is_complex_type<T>) return T(a.real());
      else return a;
    case Imag:
      if constexpr (is_complex_type<T>) return T(a.imag());
      else return T(0);
    case Conj:
      if constexpr (is_complex_type<T>) return std::conj(a);
      else return a;
    case MakeComplex:
      if constexpr (is_complex_type<T>) return T(a.real(), b.real());
      else return a;  // not typed so
    default: break;
  }
  if constexpr (is_complex_type<T>) {
    if (info_of(op).ordered) return T(apply_scalar(op, ordered_part(a), ordered_part(b)));
    return apply_floating(op, a, b);
  } else {
    if constexpr (std::is_integral_v<T>) {
      if (works_on_bits(op)) return apply_to_bits(op, a, b);
    } else {
      if (info_of(op).floating || op == Floor || op == Ceil || op == Round) return apply_floating(op, a, b);
    }
    return apply_ordered(op, a, b);
  }
}

/// Converts a value. Complex to real takes the real part, real to INT64 truncates; values beyond INT64 give its
/// smallest number.
template <class To, class From>
To convert_value(From value) {
  if constexpr (is_complex_type<From> && is_complex_type<To>) {
    return To(static_cast<typename To::value_type>(value.real()), static_cast<typename To::value_type>(value.imag()));
  } else if constexpr (is_complex_type<From>) {
    return convert_value<To>(value.real());
  } else if constexpr (is_complex_type<To>) {
    return To(static_cast<typename To::value_type>(value));
  } else if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
    const bool fits = value >= From(-0x1p63) && value < From(0x1p63);
    return fits ? static_cast<To>(value) : std::numeric_limits<To>::min();
  } else {
    return static_cast<To>(value);
  }
}

/// log(exp(a) + exp(b)) without overflow. NaN wins; infinities are what the sum of exponentials makes of them.
template <class T>
T scalar_log_add_exp(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const T greater = scalar_greatest(a, b);
    if (!std::isfinite(greater)) return greater;
    return greater + std::log1p(std::exp(scalar_least(a, b) - greater));
  } else {
    return a;  // not defined
  }
}

/// Of two values with their indices, each COMPLEX(value, index), the one that FirstLeast or FirstGreatest chooses.
template <class T>
T scalar_first_extreme(Aggregate aggregate, T a, T b) {
  if constexpr (is_complex_type<T>) {
    const bool a_is_nan = a.real() != a.real();
    const bool b_is_nan = b.real() != b.real();
    if (a_is_nan != b_is_nan) return a_is_nan ? a : b;
    if (a_is_nan || a.real() == b.real()) return b.imag() < a.imag() ? b : a;
    return (b.real() < a.real()) == (aggregate == Aggregate::FirstLeast) ? b : a;
  } else {
    return a;  // not defined
  }
}

/// The value of an empty group.
template <class T>
T identity_of(Aggregate aggregate) {
  if constexpr (is_complex_type<T>) {
    using Part = typename T::value_type;
    // Less than any value with an index, also one that is infinite.
    if (has_place(aggregate))
      return T(identity_of<Part>(aggregate == Aggregate::FirstLeast ? Aggregate::Min : Aggregate::Max),
               std::numeric_limits<Part>::infinity());
    return T(identity_of<Part>(aggregate));
  } else {
    using Limits = std::numeric_limits<T>;
    switch (aggregate) {
      case Aggregate::Prod: return T(1);
      case Aggregate::Min: return Limits::has_infinity ? Limits::infinity() : Limits::max();
      case Aggregate::LogSumExp:
      case Aggregate::Max: return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
      default: return T(0);
    }
  }
}

}  // namespace eindb
