#pragma once

#include <cstdint>
#include <string_view>

#include "parser/ast.hpp"
#include "parser/token_stream.hpp"

namespace eindb {

/// Whether the next token is a whole number, $1, or the variable of an enclosing loop.
bool at_extent(TokenStream& tokens);
/// Parses an extent; a number must be from `least` to 2^63-1.
ast::Extent parse_extent(TokenStream& tokens, std::string_view what, std::int64_t least);

/// A whole number from `least` to 2^63-1.
std::int64_t parse_whole(TokenStream& tokens, std::string_view what, std::int64_t least);

/// Parses a parameter: $1 to $65535.
ast::Parameter parse_parameter(TokenStream& tokens);

}  // namespace eindb
