#pragma once

#include <functional>

#include "parser/ast.hpp"
#include "parser/token_stream.hpp"

namespace eindb {

/// Parses the indices of a reference and the closing bracket: labels, numbers, ranges, computed indices, merged labels
/// and PAD. The opening bracket of `name` has been taken. `expression` parses an expression from the same tokens, and
/// counts how deep it lies. Throws Error{Syntax} with the place.
ast::Reference parse_indices(TokenStream& tokens, ast::Identifier name,
                             const std::function<ast::Expression()>& expression);

}  // namespace eindb
