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

// The exponent bound of finite numbers, and the exponent field of others.
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

// The possible values of an expression of type `type`, over all cells.
struct Possible {
  DType type;
  std::optional<ScalarValue> constant = {};  // the common value of all cells, if there is one
  Zero zero = Zero::Unknown;
  int magnitude = kUnbounded;
  bool nonzero = false;

  bool is_zero() const { return zero != Zero::Unknown; }
  bool is_finite() const { return magnitude < kUnbounded; }
};

// INT64 wraps, so it is never unbounded.
constexpr int kInt64Magnitude = 63;

Possible exactly(const ScalarValue& value) {
  return value.visit([&](auto v) {
    using T = decltype(v);
    const auto zero = v != T(0) ? Zero::Unknown : is_plus_zero(v) ? Zero::Plus : Zero::EitherSign;
    const auto magnitude = std::is_integral_v<T> ? kInt64Magnitude : magnitude_of_value(v);
    return Possible{
        .type = value.type(), .constant = value, .zero = zero, .magnitude = magnitude, .nonzero = v != T(0)};
  });
}

int exponent_limit_of(DType type) {
  return dispatch(type, [](auto t) { return exponent_limit<typename decltype(t)::type>(); });
}

Possible bounded(DType type, int magnitude, Zero zero = Zero::Unknown, bool nonzero = false) {
  if (type == DType::Int64) magnitude = kInt64Magnitude;
  return {.type = type,
          .constant = {},
          .zero = zero,
          .magnitude = magnitude > exponent_limit_of(type) ? kUnbounded : magnitude,
          .nonzero = nonzero};
}

Possible anything(DType type) { return bounded(type, kUnbounded); }

// The zero of numbers of either sign; INT64 has only one.
Zero unsigned_zero(DType type) { return type == DType::Int64 ? Zero::Plus : Zero::EitherSign; }

class Analysis {
 public:
  Analysis(std::span<const OperandFacts> facts, std::span<const DType> types) : facts_(facts), types_(types) {}

  Possible of(const ScalarExpression& e) const {
    if (e.is_constant()) return exactly(ScalarValue::of(e));
    if (e.kind() == Kind::Operand) return of_operand(e.operand());
    if (e.kind() == Kind::Call) return e.op() == Case ? of_case(e) : of_call(e);
    const auto type = e.type().value();
    switch (e.kind()) {
      case Kind::LabelIndex: return bounded(type, 63);
      case Kind::Uniform: return bounded(type, 1);
      case Kind::Normal: return bounded(type, 4);  // below 9, by its definition
      default: return anything(type);
    }
  }

 private:
  using Values = std::vector<Possible>;

  Possible of_operand(std::size_t n) const {
    return facts_[n].zero ? exactly(ScalarValue(std::int64_t{0}, types_[n]))
                          : bounded(types_[n], facts_[n].magnitude, Zero::Unknown, facts_[n].nonzero);
  }

  static Possible either_of(const Possible& a, const Possible& b) {
    return bounded(a.type, std::max(a.magnitude, b.magnitude), std::min(a.zero, b.zero), a.nonzero && b.nonzero);
  }

  Possible of_case(const ScalarExpression& e) const {
    const auto& arguments = e.arguments();
    std::optional<Possible> value;
    const auto may_be = [&](const Possible& branch) { value = value ? either_of(*value, branch) : branch; };
    for (std::size_t n = 0; n + 1 < arguments.size(); n += 2) {
      const auto condition = of(*arguments[n]);
      if (condition.is_zero()) continue;
      may_be(of(*arguments[n + 1]));
      if (condition.constant) return *value;
    }
    may_be(of(*arguments.back()));
    return *value;
  }

  Possible of_call(const ScalarExpression& e) const {
    Values values;
    for (const auto& argument : e.arguments()) values.push_back(of(*argument));
    if (std::all_of(values.begin(), values.end(), [](const auto& v) { return v.constant.has_value(); }))
      return computed(e.op(), values);
    auto result = values[0];
    if (values.size() == 1) return of_one(e.op(), result);
    for (std::size_t n = 1; n < values.size(); ++n) result = of_two(e.op(), result, values[n]);
    return result;
  }

  static Possible computed(ScalarOp op, const Values& values) {
    auto result = *values[0].constant;
    if (values.size() == 1) return exactly(ScalarValue::apply(op, result));
    for (std::size_t n = 1; n < values.size(); ++n) result = ScalarValue::apply(op, result, *values[n].constant);
    return exactly(result);
  }

  // Rounding may carry the largest numbers to the next power of two, and the least ones to zero.
  static Possible converted(const Possible& a, DType type) {
    const auto zero = a.is_zero() && type == DType::Int64 ? Zero::Plus : a.zero;
    const bool keeps = type == DType::Float64 || type == DType::Complex128 || a.type == type || a.type == DType::Int64;
    return bounded(type, a.magnitude + 1, zero,
                   a.nonzero && keeps && type != DType::Int64 && is_complex(a.type) <= is_complex(type));
  }

  static Possible of_one(ScalarOp op, const Possible& a) {
    if (const auto type = converts_to(op)) return converted(a, *type);
    const auto type = a.type;
    const auto when_finite = [&](int magnitude, Zero zero) {
      return a.is_finite() ? bounded(type, magnitude, zero) : bounded(type, kUnbounded, zero);
    };
    const auto sign_lost = a.is_zero() ? unsigned_zero(type) : Zero::Unknown;
    const bool is_complex_type = is_complex(type);
    switch (op) {
      case Negate:
      case Conj: return bounded(type, a.magnitude, sign_lost, a.nonzero);
      case Real: return bounded(real_of(type), a.magnitude, a.zero);
      case Imag:
        return is_complex_type ? bounded(real_of(type), a.magnitude, sign_lost)
                               : exactly(ScalarValue(std::int64_t{0}, type));
      case Abs:
        return bounded(real_of(type), is_complex_type ? a.magnitude + 1 : a.magnitude,
                       a.is_zero() ? Zero::Plus : Zero::Unknown, a.nonzero);
      case Sign: return when_finite(1, a.is_zero() ? Zero::Plus : Zero::Unknown);
      case Not: return bounded(type, 1);
      case Relu: return bounded(type, a.magnitude, a.zero);
      case Floor:
      case Ceil:
      case Round: return when_finite(a.magnitude + 1, sign_lost);
      case Sin:
      case Tanh:
      case Erf:
      case Atan: return is_complex_type ? anything(type) : when_finite(1, sign_lost);
      case Cos:
      case Sigmoid: return is_complex_type ? anything(type) : when_finite(1, Zero::Unknown);
      default: return anything(type);
    }
  }

  static Possible of_two(ScalarOp op, const Possible& a, const Possible& b) {
    const auto type = a.type;
    const auto larger = std::max(a.magnitude, b.magnitude);
    const bool both_zero = a.is_zero() && b.is_zero();
    switch (op) {
      case Multiply: return product(a, b);
      case Add: return bounded(type, larger + 1, both_zero ? sum_of(a, b) : Zero::Unknown);
      case Subtract: return bounded(type, larger + 1, both_zero ? unsigned_zero(type) : Zero::Unknown);
      case Divide:
        // The quotient of complex numbers takes squares of the divisor, which may be zero where it is not.
        return a.is_zero() && b.nonzero && b.is_finite() && (b.constant || !is_complex(type))
                   ? bounded(type, 0, unsigned_zero(type))
                   : anything(type);
      case Least:
      case Greatest: return bounded(type, larger, std::min(a.zero, b.zero));
      case BitAnd: return bounded(type, kInt64Magnitude, a.is_zero() || b.is_zero() ? Zero::Plus : Zero::Unknown);
      case BitOr:
      case BitXor: return bounded(type, kInt64Magnitude, both_zero ? Zero::Plus : Zero::Unknown);
      case ShiftLeft:
      case ShiftRight: return bounded(type, kInt64Magnitude, a.is_zero() ? Zero::Plus : Zero::Unknown);
      case And: return bounded(type, 1, a.is_zero() || b.is_zero() ? Zero::Plus : Zero::Unknown);
      case Or: return bounded(type, 1, both_zero ? Zero::Plus : Zero::Unknown);
      case Equal:
      case NotEqual:
      case Less:
      case LessEqual:
      case Greater:
      case GreaterEqual: return bounded(type, 1);
      case MakeComplex: return anything(complex_of(type));
      default: return anything(type);
    }
  }

  static Possible product(const Possible& a, const Possible& b) {
    const bool zero = (a.is_zero() && b.is_finite()) || (b.is_zero() && a.is_finite());
    if (zero) return bounded(a.type, 0, unsigned_zero(a.type));
    return bounded(a.type, a.magnitude + b.magnitude + (is_complex(a.type) ? 1 : 0));
  }

  // +0 added to either zero is +0.
  static Zero sum_of(const Possible& a, const Possible& b) {
    return a.zero == Zero::Plus || b.zero == Zero::Plus ? Zero::Plus : unsigned_zero(a.type);
  }

  std::span<const OperandFacts> facts_;
  std::span<const DType> types_;
};

// The largest exponent field decides; it is all ones for NaN and infinities. In a double it lies in the upper half.
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

Zero zero_of(const ScalarExpression& e, std::span<const OperandFacts> facts, std::span<const DType> operands) {
  return Analysis(facts, operands).of(e).zero;
}

std::optional<ScalarValue> constant_of(const ScalarExpression& e, std::span<const OperandFacts> facts,
                                       std::span<const DType> operands) {
  return Analysis(facts, operands).of(e).constant;
}

bool changes_nothing(const EinSum& einsum, std::span<const OperandFacts> facts, std::span<const DType> operands) {
  if (einsum.aggregate != Aggregate::Sum && einsum.aggregate != Aggregate::None) return false;
  const auto zero = zero_of(*einsum.expression, facts, operands);
  return einsum.aggregate == Aggregate::Sum ? zero != Zero::Unknown : zero == Zero::Plus;
}

bool keeps_zero(const EinSum& einsum, DType compute) {
  const OperandFacts aggregated{.zero = true};
  return einsum.epilogue == nullptr ||
         zero_of(*einsum.epilogue, std::span(&aggregated, 1), std::span(&compute, 1)) == Zero::Plus;
}

bool has_zeros(const Tile& tile) {
  return dispatch(tile.dtype(), [&](auto t) {
    using T = typename decltype(t)::type;
    const auto* values = tile.data<T>();
    return std::find(values, values + tile.shape().element_count(), T(0)) != values + tile.shape().element_count();
  });
}

int magnitude_of(const Tile& tile) {
  return dispatch(tile.dtype(), [&](auto t) {
    using Part = typename PartOf<typename decltype(t)::type>::type;
    if constexpr (std::is_integral_v<Part>) return 63;
    else return magnitude_of_parts<Part>(tile.is_of_cells() ? std::span(tile.cells().trie().values) : tile.bytes());
  });
}

}  // namespace eindb
