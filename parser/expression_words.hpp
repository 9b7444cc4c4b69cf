#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "parser/ast.hpp"
#include "parser/token.hpp"

namespace eindb {

/// SUM, PROD, ...: words that cannot name a function or a macro.
std::vector<std::string_view> aggregate_names();
/// Whether a user may have a macro of the aggregate's name, which is then called where no labels stand in brackets.
bool may_be_macro(std::string_view aggregate);

/// The operators and words of expressions, and which of them a token is, in any case; null if it is none.
namespace words {

/// Operator precedence. An operand of an operator of level n is parsed with least level n + 1.
enum class Level : std::uint8_t {
  Loosest,
  Or,
  Xor,
  And,
  Not,
  Comparison,
  Bits,
  Additive,
  Multiplicative,
  Unary,
  Power,
};

/// The least level of a right operand: a chain of the same operator is continued by the caller's loop.
constexpr Level next_tighter(Level level) { return static_cast<Level>(static_cast<std::uint8_t>(level) + 1); }

struct Operator {
  std::string_view text;
  ast::InfixOp op;
  Level level;
};

/// AND, *, <=, ...
const Operator* find_operator(const Token& token);

struct AggregateName {
  std::string_view text;
  ast::AggregateOp op;
};

/// SUM, SORT, ...
const AggregateName* find_aggregate(const Token& word);
/// CUMSUM, ...: CUMSUM[j](e) is SCAN[j](SUM, e), and so on.
const AggregateName* find_running(const Token& word);
inline constexpr std::string_view kScan = "SCAN";

struct Constant {
  std::string_view text;
  double value;
};

/// PI, NULL, ...
const Constant* find_constant(const Token& word);

/// Whether a word ends or joins expressions, and so cannot be an unquoted name in them.
bool is_reserved(const Token& word);

}  // namespace words
}  // namespace eindb
