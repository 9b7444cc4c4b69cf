#pragma once

#include "parser/binder.hpp"
#include "tensor/scalar_expression.hpp"

namespace eindb {

/// The values of $1, $2, ... in one execution of a statement. Refers to the values, which must outlive it.
class ParameterScope {
 public:
  explicit ParameterScope(const std::vector<ParameterValue>& values) : values_(values) {}

  /// As a number in an expression. Error{Value} if there is no value or it is text.
  ScalarPtr scalar(const ast::Parameter& parameter, SourceSpan span) const;
  /// As an index, extent or seed. Error{Value} also if it is no whole number.
  std::int64_t integer(const ast::Parameter& parameter, SourceSpan span) const;

 private:
  const ParameterValue& value(const ast::Parameter& parameter, SourceSpan span) const;

  const std::vector<ParameterValue>& values_;
};

}  // namespace eindb
