#pragma once

#include "parser/ast.hpp"
#include "parser/binder/binder.hpp"

namespace eindb {

/// The value of an expression without tensors and labels: an integer if it is an integer literal, otherwise FLOAT64.
/// `names` gives parameters and macros. Throws Error with the place of a tensor or a label.
ParameterValue constant_value(const ast::Expression& expression, const NameSource& names);

}  // namespace eindb
