#pragma once

#include <cstddef>

namespace eindb {

/// The deepest nesting of parentheses, function calls, prefixes, powers and CASE.
inline constexpr std::size_t kMaxNesting = 500;
/// The most operands of a subscript string, and the most links of a chain of operators.
inline constexpr std::size_t kMaxOperands = 1'000'000;
/// The longest statement, in bytes.
inline constexpr std::size_t kMaxStatementBytes = std::size_t{64} << 20U;

}  // namespace eindb
