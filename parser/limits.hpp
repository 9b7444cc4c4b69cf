#pragma once

#include <cstddef>

namespace eindb {

/// How deep parentheses, function calls, prefixes, powers and CASE may nest.
inline constexpr std::size_t kMaxNesting = 500;
/// How many operands a subscript string, and how many links a chain of operators, may have.
inline constexpr std::size_t kMaxOperands = 1'000'000;
/// The longest statement, in bytes.
inline constexpr std::size_t kMaxStatementBytes = std::size_t{64} << 20U;

}  // namespace eindb
