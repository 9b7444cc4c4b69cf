#include "tensor/annihilation.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "tensor/scalar_semantics.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;
using enum ScalarOp;

template <class T>
struct PartOf {
  using type = T;
};
template <class T>
struct PartOf<std::complex<T>> {
  using type = T;
};

// Bounds of finite numbers, and exponents of what is not.
template <class T>
int exponent_limit() {
  using Part = typename PartOf<T>::type;
  if constexpr (std::is_integral_v<Part>) return kUnbounded;
  else return std::numeric_limits<Part>::max_exponent;
}

template <class T>
bool is_plus_zero(T value) {
  if constexpr (is_complex_type<T>) return is_plus_zero(value.real()) && is_plus_zero(value.imag());
  else if constexpr (std::is_integral_v<T>) return value == 0;
  else return value == 0 && !std::signbit(value);
}

template <class T>
int magnitude_of_part(T value) {
  if constexpr (std::is_integral_v<T>) {
    return 0;
  } else {
    if (!std::isfinite(value)) return kUnbounded;
    return value == T(0) ? 0 : std::max(0, std::ilogb(value) + 1);
  }
}

template <class T>
int magnitude_of_value(T value) {
  if constexpr (is_complex_type<T>) return std::max(magnitude_of_part(value.real()), magnitude_of_part(value.imag()));
  else return magnitude_of_part(value);
}

// What an expression may be, over all cells.
template <class T>
struct Possible {
  std::optional<T> constant = {};  // the same in every cell
  Zero zero = Zero::Unknown;
  int magnitude = kUnbounded;

  bool is_zero() const { return zero != Zero::Unknown; }
  bool is_finite() const { return magnitude < kUnbounded; }
};

template <class T>
Possible<T> exactly(T value) {
  const auto zero = value != T(0) ? Zero::Unknown : is_plus_zero(value) ? Zero::Plus : Zero::EitherSign;
  return {.constant = value, .zero = zero, .magnitude = magnitude_of_value(value)};
}

template <class T>
class Analysis {
 public:
  explicit Analysis(std::span<const OperandFacts> facts) : facts_(facts) {}

  Possible<T> of(const ScalarExpression& e) const {
    switch (e.kind()) {
      case Kind::Integer: return exactly(literal(e.integer_value()));
      case Kind::Real: return exactly(literal(e.real_value()));
      case Kind::Operand: return facts_[e.operand()].zero ? exactly(T(0)) : bounded(facts_[e.operand()].magnitude);
      case Kind::LabelIndex: return bounded(63);
      case Kind::Uniform: return bounded(1);
      case Kind::Normal: return bounded(4);  // below 9, by its definition
      case Kind::Parameter: return {};
      case Kind::Call: break;
    }
    return e.op() == Case ? of_case(e) : of_call(e);
  }

 private:
  using Values = std::vector<Possible<T>>;

  template <class From>
  static T literal(From value) {
    if constexpr (is_complex_type<T>) return T(static_cast<typename T::value_type>(value));
    else return static_cast<T>(value);
  }

  static Possible<T> bounded(int magnitude, Zero zero = Zero::Unknown) {
    if constexpr (std::is_integral_v<T>) magnitude = 0;
    return {.constant = {}, .zero = zero, .magnitude = magnitude > exponent_limit<T>() ? kUnbounded : magnitude};
  }

  // Of numbers of either sign; INT64 has one zero.
  static Zero unsigned_zero() { return std::is_integral_v<T> ? Zero::Plus : Zero::EitherSign; }

  static Possible<T> either_of(const Possible<T>& a, const Possible<T>& b) {
    return bounded(std::max(a.magnitude, b.magnitude), std::min(a.zero, b.zero));
  }

  Possible<T> of_case(const ScalarExpression& e) const {
    const auto& arguments = e.arguments();
    std::optional<Possible<T>> value;
    const auto may_be = [&](const Possible<T>& branch) { value = value ? either_of(*value, branch) : branch; };
    for (std::size_t n = 0; n + 1 < arguments.size(); n += 2) {
      const auto condition = of(*arguments[n]);
      if (condition.is_zero()) continue;
      may_be(of(*arguments[n + 1]));
      if (condition.constant) return *value;
    }
    may_be(of(*arguments.back()));
    return *value;
  }

  Possible<T> of_call(const ScalarExpression& e) const {
    Values values;
    for (const auto& argument : e.arguments()) values.push_back(of(*argument));
    if (std::all_of(values.begin(), values.end(), [](const auto& v) { return v.constant.has_value(); }))
      return computed(e.op(), values);
    auto result = values[0];
    if (values.size() == 1) return of_one(e.op(), result);
    for (std::size_t n = 1; n < values.size(); ++n) result = of_two(e.op(), result, values[n]);
    return result;
  }

  static Possible<T> computed(ScalarOp op, const Values& values) {
    auto result = *values[0].constant;
    if (values.size() == 1) return exactly(apply_scalar<T>(op, result));
    for (std::size_t n = 1; n < values.size(); ++n) result = apply_scalar<T>(op, result, *values[n].constant);
    return exactly(result);
  }

  static Possible<T> of_one(ScalarOp op, const Possible<T>& a) {
    const auto when_finite = [&](int magnitude, Zero zero) {
      return a.is_finite() ? bounded(magnitude, zero) : bounded(kUnbounded, zero);
    };
    const auto sign_lost = a.is_zero() ? unsigned_zero() : Zero::Unknown;
    switch (op) {
      case Negate: return bounded(a.magnitude, sign_lost);
      case Conj: return bounded(a.magnitude, sign_lost);
      case Real: return bounded(a.magnitude, a.zero);
      case Imag: return is_complex_type<T> ? bounded(a.magnitude, sign_lost) : exactly(T(0));
      case Abs:
        return bounded(is_complex_type<T> ? a.magnitude + 1 : a.magnitude, a.is_zero() ? Zero::Plus : Zero::Unknown);
      case Sign: return when_finite(1, a.is_zero() ? Zero::Plus : Zero::Unknown);
      case Not: return bounded(1);
      case Relu: return bounded(a.magnitude, a.zero);
      case Floor:
      case Ceil:
      case Round: return when_finite(a.magnitude + 1, sign_lost);
      case Sin: return is_complex_type<T> ? Possible<T>{} : when_finite(1, sign_lost);
      case Tanh:
      case Erf:
      case Atan: return is_complex_type<T> ? Possible<T>{} : when_finite(1, sign_lost);
      case Cos:
      case Sigmoid: return is_complex_type<T> ? Possible<T>{} : when_finite(1, Zero::Unknown);
      default: return {};
    }
  }

  static Possible<T> of_two(ScalarOp op, const Possible<T>& a, const Possible<T>& b) {
    const auto larger = std::max(a.magnitude, b.magnitude);
    const bool both_zero = a.is_zero() && b.is_zero();
    switch (op) {
      case Multiply: return product(a, b);
      case Add: return bounded(larger + 1, both_zero ? sum_of(a.zero, b.zero) : Zero::Unknown);
      case Subtract: return bounded(larger + 1, both_zero ? unsigned_zero() : Zero::Unknown);
      case Divide:
        return a.is_zero() && b.constant && !b.is_zero() && b.is_finite() ? bounded(0, unsigned_zero()) : Possible<T>{};
      case Least:
      case Greatest: return bounded(larger, std::min(a.zero, b.zero));
      case And: return bounded(1, a.is_zero() || b.is_zero() ? Zero::Plus : Zero::Unknown);
      case Or: return bounded(1, both_zero ? Zero::Plus : Zero::Unknown);
      case Equal:
      case NotEqual:
      case Less:
      case LessEqual:
      case Greater:
      case GreaterEqual: return bounded(1);
      default: return {};
    }
  }

  static Possible<T> product(const Possible<T>& a, const Possible<T>& b) {
    const bool zero = (a.is_zero() && b.is_finite()) || (b.is_zero() && a.is_finite());
    if (zero) return bounded(0, unsigned_zero());
    return bounded(a.magnitude + b.magnitude + (is_complex_type<T> ? 1 : 0));
  }

  // +0 added to either zero is +0.
  static Zero sum_of(Zero a, Zero b) { return a == Zero::Plus || b == Zero::Plus ? Zero::Plus : unsigned_zero(); }

  std::span<const OperandFacts> facts_;
};

// The largest exponent field decides: it is all ones for NaN and infinities. Of a double it lies in the upper half.
template <class Part>
int magnitude_of_parts(std::span<const std::byte> bytes) {
  constexpr std::size_t kWords = sizeof(Part) / sizeof(std::int32_t);
  constexpr int kFraction = std::numeric_limits<Part>::digits - 1 - (kWords == 2 ? 32 : 0);
  const auto count = bytes.size() / sizeof(Part);
  std::int32_t largest = 0;
  for (std::size_t n = 0; n < count; ++n) {
    std::int32_t word = 0;
    std::memcpy(&word, bytes.data() + (n + 1) * sizeof(Part) - sizeof word, sizeof word);
    largest = std::max(largest, word & 0x7FFFFFFF);
  }
  const int exponent = static_cast<int>(largest >> kFraction);
  constexpr int kBias = std::numeric_limits<Part>::max_exponent - 1;
  return exponent == 2 * kBias + 1 ? kUnbounded : std::max(0, exponent - kBias + 1);
}

}  // namespace

Zero zero_of(const ScalarExpression& e, std::span<const OperandFacts> facts, DType compute) {
  return dispatch(compute, [&](auto t) { return Analysis<typename decltype(t)::type>(facts).of(e).zero; });
}

bool changes_nothing(const EinSum& einsum, std::span<const OperandFacts> facts, DType compute) {
  if (einsum.aggregate != Aggregate::Sum && einsum.aggregate != Aggregate::None) return false;
  const auto zero = zero_of(*einsum.expression, facts, compute);
  return einsum.aggregate == Aggregate::Sum ? zero != Zero::Unknown : zero == Zero::Plus;
}

int magnitude_of(const Tile& tile) {
  return dispatch(tile.dtype(), [&](auto t) {
    using Part = typename PartOf<typename decltype(t)::type>::type;
    if constexpr (std::is_integral_v<Part>) return 63;
    else return magnitude_of_parts<Part>(tile.bytes());
  });
}

}  // namespace eindb
