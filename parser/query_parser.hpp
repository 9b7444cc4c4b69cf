#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "parser/ast.hpp"
#include "parser/sql_scanner.hpp"
#include "parser/token_stream.hpp"

namespace eindb {

/// Whether a query of ours starts at the scanner's next token, `EINSUM ...` or `WITH x[i] = ...`, as against SQL, which
/// may use EINSUM as a name and has its own WITH. Also true for queries with mistakes further on.
bool starts_query(SqlScanner ahead);

/// [WITH definitions] EINSUM definition | 'subscripts' (operands) [USING PATH ...]. Stops before what follows.
ast::Query parse_query(TokenStream& tokens);

/// "i 1000" with its extent, which is optional in the head of a definition.
enum class ExtentRule : std::uint8_t { Optional, Required };
ast::Dimension parse_dimension(TokenStream& tokens, ExtentRule rule);

/// A whole number from `least` to 2^63-1.
std::int64_t parse_whole(TokenStream& tokens, std::string_view what, std::int64_t least);

}  // namespace eindb
