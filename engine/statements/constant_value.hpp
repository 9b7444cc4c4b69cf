#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "parser/ast.hpp"
#include "parser/binder/binder.hpp"

namespace eindb {

/// The value of an expression without tensors and labels: a text or an integer if it is such a literal, otherwise
/// FLOAT64. `names` gives parameters and macros. Throws Error with the place of a tensor or a label.
ParameterValue constant_value(const ast::Expression& expression, const NameSource& names);

/// A whole number or the value of a parameter, at least `least`; `what` names it in the message. Error{Value}.
std::int64_t whole_number(const ast::Extent& extent, std::int64_t least, std::string_view what,
                          const std::vector<ParameterValue>& parameters);

}  // namespace eindb
