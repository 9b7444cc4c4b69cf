#pragma once

#include "parser/ast.hpp"
#include "parser/binder/binder.hpp"

namespace eindb {

/// The value of an expression without tensors and labels: an integer if it is written as one, otherwise a number of
/// double precision. `names` gives parameters and macros. Throws Error with the place: a tensor, a label.
ParameterValue constant_value(const ast::Expression& expression, const NameSource& names);

}  // namespace eindb
