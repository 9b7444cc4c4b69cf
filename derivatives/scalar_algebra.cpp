#include "derivatives/scalar_algebra.hpp"

#include <cmath>
#include <utility>
#include <vector>

namespace eindb::algebra {
namespace {

using Arguments = std::vector<ScalarPtr>;

// Whole numbers from here on need not be exact.
constexpr double kExactWhole = 0x1p53;

// constant * factors, in the form of Multiply: the constant in front, unless it is 1 or -1.
struct Product {
  double constant = 1;
  bool whole = true;
  Arguments factors;
};

void collect(const ScalarPtr& e, Product& product) {
  if (e->is_constant()) {
    product.constant *= e->real_value();
    product.whole = product.whole && e->kind() == ScalarExpression::Kind::Integer;
  } else if (e->is_call(ScalarOp::Negate)) {
    product.constant = -product.constant;
    collect(e->arguments()[0], product);
  } else if (e->is_call(ScalarOp::Multiply)) {
    for (const auto& factor : e->arguments()) collect(factor, product);
  } else {
    product.factors.push_back(e);
  }
}

// Constants built from whole numbers stay whole, so that they do not turn INT64 into FLOAT64.
ScalarPtr constant_of(const Product& product) {
  if (product.whole && std::abs(product.constant) < kExactWhole)
    return ScalarExpression::integer(static_cast<std::int64_t>(product.constant));
  return ScalarExpression::real(product.constant);
}

ScalarPtr expression_of(Product product) {
  if (product.factors.empty()) return constant_of(product);
  const bool negative = product.constant == -1;
  if (std::abs(product.constant) != 1) product.factors.insert(product.factors.begin(), constant_of(product));
  auto e = product.factors.size() == 1 ? product.factors.front()
                                       : ScalarExpression::call(ScalarOp::Multiply, std::move(product.factors));
  return negative ? ScalarExpression::call(ScalarOp::Negate, {std::move(e)}) : e;
}

bool is_number(const ScalarPtr& e, double value) { return e->is_constant() && e->real_value() == value; }

}  // namespace

ScalarPtr number(double value) {
  const bool whole = std::trunc(value) == value && std::abs(value) < kExactWhole;
  return whole ? ScalarExpression::integer(static_cast<std::int64_t>(value)) : ScalarExpression::real(value);
}

ScalarPtr times(const ScalarPtr& a, const ScalarPtr& b) { return product(std::initializer_list<ScalarPtr>{a, b}); }

ScalarPtr product(std::span<const ScalarPtr> factors) {
  Product product;
  for (const auto& factor : factors) {
    if (factor == nullptr) return nullptr;
    collect(factor, product);
  }
  return product.constant == 0 ? nullptr : expression_of(std::move(product));
}

ScalarPtr plus(const ScalarPtr& a, const ScalarPtr& b) {
  if (a == nullptr) return b;
  if (b == nullptr) return a;
  if (a->is_constant() && b->is_constant()) return number(a->real_value() + b->real_value());
  if (equal(*a, *b)) return times(number(2), a);
  if (b->is_call(ScalarOp::Negate)) return ScalarExpression::call(ScalarOp::Subtract, {a, b->arguments()[0]});
  return ScalarExpression::call(ScalarOp::Add, {a, b});
}

ScalarPtr minus(const ScalarPtr& a, const ScalarPtr& b) {
  if (b == nullptr) return a;
  if (a == nullptr) return negated(b);
  if (a->is_constant() && b->is_constant()) return number(a->real_value() - b->real_value());
  if (b->is_call(ScalarOp::Negate)) return plus(a, b->arguments()[0]);
  return ScalarExpression::call(ScalarOp::Subtract, {a, b});
}

ScalarPtr negated(const ScalarPtr& a) {
  if (a == nullptr) return nullptr;
  Product product{.constant = -1, .whole = true, .factors = {}};
  collect(a, product);
  return expression_of(std::move(product));
}

ScalarPtr over(const ScalarPtr& a, const ScalarPtr& b) {
  if (a == nullptr || is_number(b, 1)) return a;
  if (a->is_constant() && b->is_constant()) return number(a->real_value() / b->real_value());
  return ScalarExpression::call(ScalarOp::Divide, {a, b});
}

ScalarPtr power(const ScalarPtr& a, const ScalarPtr& exponent) {
  if (is_number(exponent, 0)) return ScalarExpression::integer(1);
  if (is_number(exponent, 1)) return a;
  return ScalarExpression::call(ScalarOp::Power, {a, exponent});
}

ScalarPtr choose(const ScalarPtr& condition, const ScalarPtr& a, const ScalarPtr& b) {
  if (a == nullptr && b == nullptr) return nullptr;
  return ScalarExpression::call(ScalarOp::Case, {condition, or_zero(a), or_zero(b)});
}

ScalarPtr linear(ScalarOp op, const ScalarPtr& a) { return a == nullptr ? nullptr : ScalarExpression::call(op, {a}); }

ScalarPtr or_zero(const ScalarPtr& a) { return a == nullptr ? ScalarExpression::integer(0) : a; }

}  // namespace eindb::algebra
