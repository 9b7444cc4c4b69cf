#include "derivatives/scalar_derivative.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_set>
#include <vector>

#include "common/error.hpp"
#include "derivatives/scalar_algebra.hpp"
#include "tensor/scalar_types.hpp"

namespace eindb {
namespace {

using enum ScalarOp;
using Kind = ScalarExpression::Kind;
using Arguments = std::vector<ScalarPtr>;
using algebra::choose;
using algebra::minus;
using algebra::negated;
using algebra::number;
using algebra::over;
using algebra::plus;
using algebra::power;
using algebra::times;

ScalarPtr call(ScalarOp op, Arguments arguments) { return ScalarExpression::call(op, std::move(arguments)); }
ScalarPtr square(const ScalarPtr& e) { return power(e, number(2)); }

// All arguments except number k.
Arguments others(const Arguments& arguments, std::size_t k) {
  Arguments out = arguments;
  out.erase(out.begin() + static_cast<std::ptrdiff_t>(k));
  return out;
}

ScalarPtr times_all(const ScalarPtr& d, const Arguments& factors) { return times(d, algebra::product(factors)); }

// d times the derivative of a product by its factor k.
ScalarPtr through_factor(const ScalarExpression& e, std::size_t k, const ScalarPtr& d) {
  return times_all(d, others(e.arguments(), k));
}

// For u / v; by the denominator the result is -d * (u / v) / v, where u / v is the value.
ScalarPtr through_quotient(const ScalarExpression& e, std::size_t k, const ScalarPtr& d, const ScalarPtr& value) {
  const auto& v = e.arguments()[1];
  if (k == 0) return over(d, v);
  return negated(over(times(d, value), v));
}

// y * x ^ (y - 1), which is 0 for y = 0, even if x is 0.
ScalarPtr through_base(const ScalarExpression& e, const ScalarPtr& d) {
  const auto& x = e.arguments()[0];
  const auto& y = e.arguments()[1];
  if (y->is_constant()) {
    const auto lower = y->kind() == Kind::Integer && y->integer_value() != INT64_MIN
                           ? ScalarExpression::integer(y->integer_value() - 1)
                           : ScalarExpression::real(y->real_value() - 1);
    return y->real_value() == 0 ? nullptr : times(times(d, y), power(x, lower));
  }
  const auto inner = times(times(d, y), power(x, minus(y, number(1))));
  return choose(call(Equal, {y, number(0)}), nullptr, inner);
}

// x ^ y * LOG(x), which is 0 for x = 0.
ScalarPtr through_exponent(const ScalarExpression& e, const ScalarPtr& d, const ScalarPtr& value) {
  const auto& x = e.arguments()[0];
  auto inner = times(times(d, value), call(Log, {x}));
  if (x->is_constant() && x->real_value() > 0) return inner;
  return choose(call(Equal, {x, number(0)}), nullptr, inner);
}

// Passes to the least or greatest arguments, in equal shares.
ScalarPtr through_extreme(const ScalarExpression& e, std::size_t k, const ScalarPtr& d) {
  const auto& own = e.arguments()[k];
  const auto rest = others(e.arguments(), k);
  ScalarPtr share = number(1);
  for (const auto& other : rest) share = plus(share, call(Equal, {other, own}));
  const auto rival = rest.size() == 1 ? rest.front() : call(e.op(), rest);
  return choose(call(e.op() == Least ? LessEqual : GreaterEqual, {own, rival}), over(d, share), nullptr);
}

ScalarPtr through_angle(const ScalarExpression& e, std::size_t k, const ScalarPtr& d) {
  const auto& y = e.arguments()[0];
  const auto& x = e.arguments()[1];
  auto inner = over(times(d, k == 0 ? x : y), plus(square(y), square(x)));
  return k == 0 ? inner : negated(inner);
}

// d times the derivative of a function of one argument u; `value` is f(u).
ScalarPtr through_function(ScalarOp op, const ScalarPtr& u, const ScalarPtr& d, const ScalarPtr& value) {
  const auto one = number(1);
  switch (op) {
    case Negate: return negated(d);
    case Abs: return times(d, call(Sign, {u}));
    case Sqrt: return over(d, times(number(2), value));
    case Exp: return times(d, value);
    case Expm1: return times(d, plus(value, one));
    case Log: return over(d, u);
    case Log2: return over(d, times(number(std::numbers::ln2), u));
    case Log1p: return over(d, plus(one, u));
    case Sin: return times(d, call(Cos, {u}));
    case Cos: return negated(times(d, call(Sin, {u})));
    case Tan: return times(d, plus(one, square(value)));
    case Asin: return over(d, call(Sqrt, {minus(one, square(u))}));
    case Acos: return negated(over(d, call(Sqrt, {minus(one, square(u))})));
    case Atan: return over(d, plus(one, square(u)));
    case Sinh: return times(d, call(Cosh, {u}));
    case Cosh: return times(d, call(Sinh, {u}));
    case Tanh: return times(d, minus(one, square(value)));
    case Erf: return times(times(d, number(2 * std::numbers::inv_sqrtpi)), call(Exp, {negated(square(u))}));
    case Sigmoid: return times(times(d, value), minus(one, value));
    case ToFloat32:
    case ToFloat64:
    case ToComplex64:
    case ToComplex128: return d;
    case Relu: return choose(call(Greater, {value->is_call(Relu) ? u : value, number(0)}), d, nullptr);
    default: return nullptr;  // piecewise constant: SIGN, FLOOR, comparisons, logic
  }
}

// d times the derivative of e, which is analytic in its argument k (or real and smooth almost everywhere).
ScalarPtr through(const ScalarExpression& e, std::size_t k, const ScalarPtr& d, const ScalarPtr& value) {
  switch (e.op()) {
    case Add: return d;
    case Subtract: return k == 0 ? d : negated(d);
    case Multiply: return through_factor(e, k, d);
    case Divide: return through_quotient(e, k, d, value);
    case Modulo: return k == 0 ? d : negated(times(d, call(Floor, {call(Divide, e.arguments())})));
    case Power: return k == 0 ? through_base(e, d) : through_exponent(e, d, value);
    case Least:
    case Greatest: return through_extreme(e, k, d);
    case Atan2: return through_angle(e, k, d);
    default: return e.arguments().size() == 1 ? through_function(e.op(), e.arguments()[0], d, value) : nullptr;
  }
}

// Whether d times the derivative through argument k is d * value: EXP(u) is a factor of the value, and EXP' is EXP.
// Example: EXP(x - m) / s has, by x, the derivative P, its own value.
bool is_exponential_factor(const ScalarExpression& e, std::size_t k) {
  return (e.is_call(Multiply) || (e.is_call(Divide) && k == 0)) && e.arguments()[k]->is_call(Exp);
}

// i * a for a real a.
ScalarPtr imaginary(const ScalarPtr& a) { return a == nullptr ? nullptr : call(MakeComplex, {number(0), a}); }

class Linearisation {
 public:
  explicit Linearisation(const ScalarFunction& function) : function_(function) {
    mark(*function.expression);
    complex_ = std::any_of(function.types.begin(), function.types.end(), is_complex) || makes_complex_;
  }

  ScalarPtr pull(const ScalarPtr& cotangent) const {
    return depends(*function_.expression) ? pull(function_.expression, cotangent, root_value()) : nullptr;
  }
  ScalarPtr push(const ScalarPtr& tangent) const {
    return depends(*function_.expression) ? push(function_.expression, tangent, root_value()) : nullptr;
  }

 private:
  ScalarPtr root_value() const { return function_.value != nullptr ? function_.value : function_.expression; }

  bool mark(const ScalarExpression& e) {
    bool depends = e.kind() == Kind::Operand && e.operand() == function_.operand;
    if (e.is_call(MakeComplex)) makes_complex_ = true;
    for (const auto& argument : e.arguments()) depends = mark(*argument) || depends;
    if (depends) dependent_.insert(&e);
    return depends;
  }

  bool depends(const ScalarExpression& e) const { return dependent_.contains(&e); }
  bool has_complex_value(const ScalarPtr& e) const {
    return complex_ && is_complex(type_of(*e, function_.types).dtype);
  }

  // ---- reverse ----
  // `value` holds the value of e.
  ScalarPtr pull(const ScalarPtr& e, const ScalarPtr& t, const ScalarPtr& value) const {
    if (t == nullptr) return nullptr;
    if (e->kind() == Kind::Operand) return t;
    if (e->op() == Case) return pull_case(*e, t);
    ScalarPtr sum;
    for (std::size_t k = 0; k < e->arguments().size(); ++k)
      if (depends(*e->arguments()[k])) sum = plus(sum, pull_argument(e, k, t, value));
    return sum;
  }

  ScalarPtr pull_argument(const ScalarPtr& e, std::size_t k, const ScalarPtr& t, const ScalarPtr& value) const {
    count_terms(*e);
    const auto& argument = e->arguments()[k];
    if (value != e && is_exponential_factor(*e, k)) {
      const auto& exponent = argument->arguments()[0];
      return pull(exponent, as_real_if(exponent, times(t, value)), exponent);
    }
    return pull(argument, as_real_if(argument, cotangent_of_argument(e, k, t, value)), argument);
  }

  // The cotangent of a real value is real.
  ScalarPtr as_real_if(const ScalarPtr& argument, const ScalarPtr& t) const {
    if (t == nullptr || argument->kind() == Kind::Operand || has_complex_value(argument) || !has_complex_value(t))
      return t;
    return call(Real, {t});
  }

  ScalarPtr cotangent_of_argument(const ScalarPtr& e, std::size_t k, const ScalarPtr& t, const ScalarPtr& value) const {
    const auto& u = e->arguments()[k];
    switch (e->op()) {
      case Real: return t;
      case Imag: return has_complex_value(u) ? imaginary(negated(t)) : nullptr;
      case Conj: return has_complex_value(u) ? call(Conj, {t}) : t;
      case MakeComplex: return k == 0 ? call(Real, {t}) : negated(call(Imag, {t}));
      case Abs:
        if (has_complex_value(u)) return times(t, direction(u, value));
        break;
      default: break;
    }
    return through(*e, k, t, value);
  }

  ScalarPtr pull_case(const ScalarExpression& e, const ScalarPtr& t) const {
    return branch_by_branch(e, [&](const ScalarPtr& branch) { return pull(branch, as_real_if(branch, t), branch); });
  }

  // ---- forward ----
  ScalarPtr push(const ScalarPtr& e, const ScalarPtr& d, const ScalarPtr& value) const {
    if (e->kind() == Kind::Operand) return d;
    if (e->op() == Case) return branch_by_branch(*e, [&](const ScalarPtr& branch) { return push(branch, d, branch); });
    ScalarPtr sum;
    for (std::size_t k = 0; k < e->arguments().size(); ++k)
      if (depends(*e->arguments()[k])) sum = plus(sum, push_argument(e, k, d, value));
    return sum;
  }

  ScalarPtr push_argument(const ScalarPtr& e, std::size_t k, const ScalarPtr& d, const ScalarPtr& value) const {
    count_terms(*e);
    const auto& u = e->arguments()[k];
    if (value != e && is_exponential_factor(*e, k)) {
      const auto& exponent = u->arguments()[0];
      return times(push(exponent, d, exponent), value);
    }
    const auto du = push(u, d, u);
    if (du == nullptr) return nullptr;
    switch (e->op()) {
      case Real:
      case Conj: return has_complex_value(u) ? call(e->op(), {du}) : du;
      case Imag: return has_complex_value(u) ? call(Imag, {du}) : nullptr;
      case MakeComplex: return k == 0 ? call(MakeComplex, {du, number(0)}) : imaginary(du);
      case Abs:
        if (has_complex_value(u)) return call(Real, {times(du, direction(u, value))});
        break;
      default: break;
    }
    return through(*e, k, du, value);
  }

  // ---- both ----
  // The derivative of x * x * ... with n factors has n products of n factors.
  void count_terms(const ScalarExpression& e) const {
    terms_ += e.op() == Multiply ? e.arguments().size() : 1;
    if (terms_ <= kMostTerms) return;
    throw Error(ErrorKind::Unsupported, "the derivative of an expression has more than a million terms", std::nullopt,
                "write powers as x ^ n, and parts of long products as definitions of their own");
  }

  // CONJ(u) / ABS(u), or 0 at 0.
  static ScalarPtr direction(const ScalarPtr& u, const ScalarPtr& modulus) {
    return choose(call(Equal, {modulus, number(0)}), nullptr, over(call(Conj, {u}), modulus));
  }

  template <class Derivative>
  ScalarPtr branch_by_branch(const ScalarExpression& e, const Derivative& derivative) const {
    Arguments out;
    bool any = false;
    for (std::size_t k = 0; k < e.arguments().size(); ++k) {
      const auto& argument = e.arguments()[k];
      if (k % 2 == 0 && k + 1 < e.arguments().size()) {
        out.push_back(argument);
        continue;
      }
      const auto inner = depends(*argument) ? derivative(argument) : nullptr;
      any = any || inner != nullptr;
      out.push_back(algebra::or_zero(inner));
    }
    return any ? call(Case, std::move(out)) : nullptr;
  }

  static constexpr std::size_t kMostTerms = 1'000'000;

  const ScalarFunction& function_;
  mutable std::size_t terms_ = 0;
  std::unordered_set<const ScalarExpression*> dependent_;
  bool makes_complex_ = false;
  bool complex_ = false;
};

}  // namespace

ScalarPtr pullback(const ScalarFunction& function, const ScalarPtr& cotangent) {
  return Linearisation(function).pull(cotangent);
}

ScalarPtr pushforward(const ScalarFunction& function, const ScalarPtr& tangent) {
  return Linearisation(function).push(tangent);
}

}  // namespace eindb
