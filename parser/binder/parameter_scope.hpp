#pragma once

#include <set>
#include <vector>

#include "parser/ast.hpp"
#include "parser/binder/name_source.hpp"
#include "tensor/scalar_expression.hpp"

namespace eindb {

/// The value as a constant of an expression; null if it is text or NULL.
ScalarPtr constant_of(const ParameterValue& value);

/// The values of $1, $2, ... in one execution of a statement. Refers to `names`, which must outlive it.
class ParameterScope {
 public:
  explicit ParameterScope(const NameSource& names) : values_(names.parameters), deferred_(names.deferred_parameters) {}

  /// As a number in an expression: its value, or the parameter itself where that is deferred. Error{Value} if there is
  /// no value or it is text, Error{NullValue} if it is NULL.
  ScalarPtr scalar(const ast::Parameter& parameter, SourceSpan span) const;
  /// Whether a plan is to serve all values of its type.
  bool is_deferred(const ast::Parameter& parameter) const { return deferred_.contains(parameter.number); }
  /// As an index: the value, of one that is deferred as well. Errors as integer().
  std::int64_t index(const ast::Parameter& parameter, SourceSpan span) const;
  /// As an extent or seed. Error{Value} also if it is no whole number.
  std::int64_t integer(const ast::Parameter& parameter, SourceSpan span) const;

 private:
  /// The value that was given, which is not NULL.
  const ParameterValue& value(const ast::Parameter& parameter, SourceSpan span) const;

  const std::vector<ParameterValue>& values_;
  const std::set<std::size_t>& deferred_;
};

}  // namespace eindb
