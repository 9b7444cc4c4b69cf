#pragma once

#include <complex>
#include <cstdint>
#include <variant>

#include "common/check.hpp"
#include "tensor/dtype.hpp"
#include "tensor/scalar_expression.hpp"
#include "tensor/scalar_semantics.hpp"

namespace eindb {

/// One value of any element type, with the scalar operations: each operates in the type of its arguments.
class ScalarValue {
 public:
  template <class T>
  explicit ScalarValue(T value) : value_(value) {}
  /// A value in `type`.
  template <class T>
  ScalarValue(T value, DType type)
      : value_(dispatch(type, [&](auto t) { return Value(convert_value<typename decltype(t)::type>(value)); })) {}
  /// A constant with a type.
  static ScalarValue of(const ScalarExpression& constant) {
    CHECK(constant.is_constant() && constant.type(), "a constant has its type before it is computed with");
    return constant.kind() == ScalarExpression::Kind::Integer ? ScalarValue(constant.integer_value(), *constant.type())
                                                              : ScalarValue(constant.real_value(), *constant.type());
  }

  template <class T>
  T as() const {
    return std::visit([](auto value) { return convert_value<T>(value); }, value_);
  }
  /// Calls `f` with the value.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit(std::forward<F>(f), value_);
  }
  DType type() const {
    return std::visit([](auto value) { return dtype_of<decltype(value)>; }, value_);
  }
  bool is_true() const {
    return std::visit([](auto value) { return value != decltype(value)(0); }, value_);
  }
  ScalarValue in(DType type) const {
    return std::visit([&](auto value) { return ScalarValue(value, type); }, value_);
  }

  /// op(a), and op(a, b) for arguments of one type; callers fold operations with more arguments from the left.
  static ScalarValue apply(ScalarOp op, const ScalarValue& a) {
    if (const auto type = converts_to(op)) return a.in(*type);
    const auto result = a.visit([&](auto value) { return ScalarValue(apply_scalar(op, value)); });
    const bool is_part = op == ScalarOp::Abs || op == ScalarOp::Real || op == ScalarOp::Imag;
    return is_part ? result.in(real_of(a.type())) : result;
  }
  static ScalarValue apply(ScalarOp op, const ScalarValue& a, const ScalarValue& b) {
    CHECK(a.value_.index() == b.value_.index(), "the arguments of an operation have one type");
    if (op == ScalarOp::MakeComplex) return a.in(complex_of(a.type())).combined(op, b.in(complex_of(a.type())));
    return a.combined(op, b);
  }

 private:
  using Value = std::variant<float, double, std::complex<float>, std::complex<double>, std::int64_t>;

  ScalarValue combined(ScalarOp op, const ScalarValue& b) const {
    return visit([&](auto value) {
      using T = decltype(value);
      return ScalarValue(apply_scalar<T>(op, value, std::get<T>(b.value_)));
    });
  }

  Value value_;
};

}  // namespace eindb
