#include "parser/binder/parameter_scope.hpp"

#include <cmath>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

std::string name_of(const ast::Parameter& parameter) { return "parameter $" + std::to_string(parameter.number); }

// Larger doubles have no fractions, and may not fit INT64.
constexpr double kExactInDouble = 9007199254740992.0;

}  // namespace

ScalarPtr constant_of(const ParameterValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return ScalarExpression::integer(*integer);
  if (const auto* real = std::get_if<double>(&value)) return ScalarExpression::real(*real);
  if (const auto* complex = std::get_if<std::complex<double>>(&value)) {
    return ScalarExpression::call(ScalarOp::MakeComplex,
                                  {ScalarExpression::real(complex->real()), ScalarExpression::real(complex->imag())});
  }
  return nullptr;
}

const ParameterValue& ParameterScope::value(const ast::Parameter& parameter, SourceSpan span) const {
  if (parameter.number < 1 || parameter.number > values_.size()) {
    throw Error(ErrorKind::Value, "no value is given for " + name_of(parameter), span,
                "PREPARE the statement and EXECUTE it with values");
  }
  const auto& given = values_[parameter.number - 1];
  if (!std::holds_alternative<std::monostate>(given)) return given;
  throw Error(ErrorKind::NullValue, name_of(parameter) + " is NULL, but a number is wanted here", span,
              "give NAN, or write NULL in the statement");
}

ScalarPtr ParameterScope::scalar(const ast::Parameter& parameter, SourceSpan span) const {
  const auto& given = value(parameter, span);
  if (deferred_.contains(parameter.number)) {
    const bool integer = std::holds_alternative<std::int64_t>(given);
    return ScalarExpression::parameter(parameter.number - 1, integer ? DType::Int64 : DType::Float64);
  }
  if (auto constant = constant_of(given)) return constant;
  throw Error(ErrorKind::Value, name_of(parameter) + " is text, but a number is wanted here", span);
}

std::int64_t ParameterScope::integer(const ast::Parameter& parameter, SourceSpan span) const {
  CHECK(!is_deferred(parameter), "a plan is made with the values of parameters that shape it");
  return index(parameter, span);
}

std::int64_t ParameterScope::index(const ast::Parameter& parameter, SourceSpan span) const {
  const auto& given = value(parameter, span);
  if (const auto* integer = std::get_if<std::int64_t>(&given)) return *integer;
  if (const auto* real = std::get_if<double>(&given);
      real != nullptr && *real == std::floor(*real) && std::abs(*real) <= kExactInDouble)
    return static_cast<std::int64_t>(*real);
  throw Error(ErrorKind::Value, name_of(parameter) + " is no whole number, but one is wanted here", span);
}

const std::string* ParameterScope::text(const ast::Parameter& parameter) const {
  if (parameter.number < 1 || parameter.number > values_.size()) return nullptr;
  return std::get_if<std::string>(&values_[parameter.number - 1]);
}

}  // namespace eindb
