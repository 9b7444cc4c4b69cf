#pragma once

#include <string_view>

#include "common/source_span.hpp"
#include "parser/ast.hpp"

namespace eindb {

/// Reads a subscript string in the notation of numpy.einsum and opt_einsum, or in the list form, into the inputs,
/// output, nesting and text_span of the result; operands stay empty. `quoted` is the span of the string with its quotes
/// in `statement`, and all spans are of the statement.
///
///     string := list [ '->' term ]                  list := part ( ',' part )*        part := '(' list ')' | term
///     term   := ( letter | '...' )*                 letters: one character is one label; no character, a scalar
///     term   := '[' [ name ( ',' name )* ] ']'      the list form, used where the string has a '['
///
/// Space is ignored. A letter is a letter of any script or '_'; as opt_einsum numbers its labels through all of Unicode
/// from U+00C0 on, any character from there on is one, too. A name of the list form may start with a digit.
/// Throws Error{Syntax}.
ast::Subscripts parse_subscripts(std::string_view statement, SourceSpan quoted);

}  // namespace eindb
