#pragma once

#include <string_view>

#include "common/source_span.hpp"
#include "parser/ast.hpp"

namespace eindb {

/// Parses a subscript string in the notation of numpy.einsum and opt_einsum, or in the list form, into the inputs,
/// output, nesting and text_span of the result; operands stay empty. `quoted` is the span of the string with its quotes
/// in `statement`; all spans refer to the statement.
///
///     string := list [ '->' term ]                  list := part ( ',' part )*        part := '(' list ')' | term
///     term   := ( letter | '...' )*                 letters: one character is one label; no character, a scalar
///     term   := '[' [ name ( ',' name )* ] ']'      the list form, used where the string has a '['
///
/// Spaces are ignored. A letter is a letter of any script or '_'. Since opt_einsum uses all of Unicode from U+00C0 on
/// for its labels, any character from there on counts as a letter too. Names of the list form may start with a digit.
/// Throws Error{Syntax}.
ast::Subscripts parse_subscripts(std::string_view statement, SourceSpan quoted);

}  // namespace eindb
