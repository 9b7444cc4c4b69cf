#pragma once

#include <functional>

#include "parser/ast.hpp"

namespace eindb {

/// Calls `visit` for every expression directly inside `e`, in the order of the text.
void for_each_child(const ast::Expression& e, const std::function<void(const ast::Expression&)>& visit);
/// Likewise, for changing them in place.
void rewrite_children(ast::Expression& e, const std::function<void(ast::Expression&)>& rewrite);

}  // namespace eindb
