#pragma once

#include <set>
#include <vector>

#include "parser/ast.hpp"
#include "parser/binder/name_source.hpp"
#include "tensor/scalar_expression.hpp"

namespace eindb {

/// The value as a constant expression; null if it is text or NULL.
ScalarPtr constant_of(const ParameterValue& value);

/// The values of $1, $2, ... for one execution of a statement. Refers to `names`, which must outlive it.
class ParameterScope {
 public:
  explicit ParameterScope(const NameSource& names) : values_(names.parameters), deferred_(names.deferred_parameters) {}

  /// As a number in an expression: the value, or the parameter itself if it is deferred. Error{Value} if there is no
  /// value or it is text, Error{NullValue} if it is NULL.
  ScalarPtr scalar(const ast::Parameter& parameter, SourceSpan span) const;
  /// Whether the plan must serve all values of the parameter's type.
  bool is_deferred(const ast::Parameter& parameter) const { return deferred_.contains(parameter.number); }
  /// As an index: the value, even if the parameter is deferred. Throws like integer().
  std::int64_t index(const ast::Parameter& parameter, SourceSpan span) const;
  /// Its value if that is a text, which is what an index is called; else null.
  const std::string* text(const ast::Parameter& parameter) const;
  /// As an extent or seed. Also throws Error{Value} if it is no whole number.
  std::int64_t integer(const ast::Parameter& parameter, SourceSpan span) const;

 private:
  /// The given value, which must not be NULL.
  const ParameterValue& value(const ast::Parameter& parameter, SourceSpan span) const;

  const std::vector<ParameterValue>& values_;
  const std::set<std::size_t>& deferred_;
};

}  // namespace eindb
