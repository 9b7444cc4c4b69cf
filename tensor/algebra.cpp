#include "tensor/algebra.hpp"

#include <algorithm>
#include <cmath>

#include "common/check.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;
using enum ScalarOp;

// All integers up to it are exact, also in FLOAT32.
constexpr double kLargestExponent = 0x1p24;

// Sums and products round, and infinities of both signs, or zero and infinity, give NaN where they meet: by parts they
// may meet elsewhere. LEAST and GREATEST choose one of their arguments, and NaN wins in them as in MIN and MAX.
const Semiring kSemirings[] = {
    {.aggregate = Aggregate::Sum, .join = Multiply, .for_complex = true},
    {.aggregate = Aggregate::Max, .join = Add, .for_integers = false, .idempotent = true},
    {.aggregate = Aggregate::Min, .join = Add, .for_integers = false, .idempotent = true},
    {.aggregate = Aggregate::Max, .join = Least, .exactness = Exactness::Exact, .idempotent = true},
    {.aggregate = Aggregate::Min, .join = Greatest, .exactness = Exactness::Exact, .idempotent = true},
    {.aggregate = Aggregate::LogSumExp, .join = Add, .for_integers = false},
    {.aggregate = Aggregate::Max, .join = And, .exactness = Exactness::Exact, .idempotent = true},
    {.aggregate = Aggregate::Min, .join = And, .exactness = Exactness::Exact, .idempotent = true},
    {.aggregate = Aggregate::Max, .join = Or, .exactness = Exactness::Exact, .idempotent = true},
    {.aggregate = Aggregate::Min, .join = Or, .exactness = Exactness::Exact, .idempotent = true},
    {.aggregate = Aggregate::Max,
     .join = Multiply,
     .for_integers = false,
     .needs_nonnegative = true,
     .idempotent = true},
    {.aggregate = Aggregate::Min,
     .join = Multiply,
     .for_integers = false,
     .needs_nonnegative = true,
     .idempotent = true},
};

bool is_even(const ScalarExpression& e) { return e.is_constant() && std::fmod(e.real_value(), 2) == 0; }

// Whether a value that is not negative cannot be -0 either, whose reciprocal is negative.
bool is_never_minus_zero(const ScalarExpression& e) {
  if (e.is_constant()) return !std::signbit(e.real_value());
  if (e.kind() != Kind::Call) return e.kind() == Kind::LabelIndex || e.kind() == Kind::Uniform;
  return gives_boolean(e.op()) || e.op() == Abs || e.op() == Exp || e.op() == Sigmoid || e.op() == Cosh;
}

}  // namespace

std::span<const Semiring> all_semirings() { return kSemirings; }

bool holds_for(const Semiring& semiring, DType compute) {
  if (is_complex(compute)) return semiring.for_complex;
  return semiring.for_integers || compute != DType::Int64;
}

const Semiring* find_semiring(Aggregate aggregate, ScalarOp join, DType compute) {
  const auto fits = [&](const Semiring& s) {
    return s.aggregate == aggregate && s.join.is(join) && holds_for(s, compute);
  };
  const auto found = std::find_if(std::begin(kSemirings), std::end(kSemirings), fits);
  return found == std::end(kSemirings) ? nullptr : found;
}

bool is_idempotent(Aggregate aggregate) { return aggregate == Aggregate::Min || aggregate == Aggregate::Max; }

Aggregate opposite(Aggregate extreme) {
  CHECK(is_idempotent(extreme), "MIN and MAX are opposites");
  return extreme == Aggregate::Max ? Aggregate::Min : Aggregate::Max;
}

std::optional<std::size_t> multiplicative_argument(const ScalarExpression& e, DType compute) {
  if (e.kind() != Kind::Call || is_complex(compute)) return std::nullopt;
  const auto& a = e.arguments();
  const bool integers = compute == DType::Int64;
  switch (e.op()) {
    case Abs: return integers ? std::nullopt : std::optional<std::size_t>(0);
    case Divide:
      return !integers && a[0]->is_constant() && a[0]->real_value() == 1 ? std::optional<std::size_t>(1) : std::nullopt;
    case Power: {
      if (!a[1]->is_constant()) return std::nullopt;
      const double exponent = a[1]->real_value();
      const bool holds = std::trunc(exponent) == exponent && (integers ? exponent > 0 : exponent != 0);
      return holds && std::abs(exponent) < kLargestExponent ? std::optional<std::size_t>(0) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

bool is_nonnegative(const ScalarExpression& e, const std::vector<bool>& operands) {
  switch (e.kind()) {
    case Kind::Integer:
    case Kind::Real: return e.real_value() >= 0 && !std::signbit(e.real_value());
    case Kind::Operand: return e.operand() < operands.size() && operands[e.operand()];
    case Kind::LabelIndex:
    case Kind::Uniform: return true;
    case Kind::Normal:
    case Kind::Parameter: return false;
    case Kind::Call: break;
  }
  const auto& arguments = e.arguments();
  const auto nonnegative = [&](const ScalarPtr& argument) { return is_nonnegative(*argument, operands); };
  const bool all = std::all_of(arguments.begin(), arguments.end(), nonnegative);
  if (gives_boolean(e.op())) return true;
  switch (e.op()) {
    case Abs:
    case Exp:
    case Sqrt:
    case Sigmoid:
    case Relu: return true;
    case Multiply: return all || (arguments.size() == 2 && equal(*arguments[0], *arguments[1]));
    case Divide: return all && is_never_minus_zero(*arguments[1]);
    case Power: return (nonnegative(arguments[0]) && is_never_minus_zero(*arguments[0])) || is_even(*arguments[1]);
    case Greatest: return std::any_of(arguments.begin(), arguments.end(), nonnegative);
    case Case:
      for (std::size_t n = 1; n < arguments.size(); n += 2)
        if (!nonnegative(arguments[n])) return false;
      return nonnegative(arguments.back());
    case Add:
    case Least:
    case Sign:
    case Log1p:
    case Expm1:
    case Atan:
    case Sinh:
    case Cosh:
    case Tanh:
    case Erf:
    case Floor:
    case Ceil:
    case Round:
    case Real:
    case ToFloat32:
    case ToFloat64: return all;
    default: return false;
  }
}

bool has_nonnegative_reciprocal(const ScalarExpression& e, const std::vector<bool>& operands) {
  return is_nonnegative(e, operands) && is_never_minus_zero(e);
}

}  // namespace eindb
