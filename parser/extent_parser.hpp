#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

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

/// "i 1000"; the extent is optional in the head of a definition.
enum class ExtentRule : std::uint8_t { Optional, Required };
ast::Dimension parse_dimension(TokenStream& tokens, ExtentRule rule);

/// Whether two labels or more in parentheses follow, which number one dimension together: (i, j) or (i 2, j).
bool at_merged_labels(TokenStream ahead);
/// Parses them.
std::vector<ast::Dimension> parse_merged_labels(TokenStream& tokens);

}  // namespace eindb
