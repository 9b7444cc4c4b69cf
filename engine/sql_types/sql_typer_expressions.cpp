#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>

#include "common/check.hpp"
#include "common/letter_case.hpp"
#include "engine/sql_types/function_types.hpp"
#include "engine/sql_types/sql_typer.hpp"

namespace eindb {
namespace {

using Kind = Token::Kind;
using enum ValueType;

bool is_keyword_of_clause(const Token& token) {
  constexpr std::array<std::string_view, 18> kWords{"FROM",  "WHERE", "GROUP",     "HAVING", "WINDOW", "ORDER",
                                                    "LIMIT", "UNION", "INTERSECT", "EXCEPT", "SELECT", "RETURNING",
                                                    "WHEN",  "THEN",  "ELSE",      "END",    "ON",     "SET"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) { return token.is_word(word); });
}

// SQLite reads integers beyond 63 bits as reals.
bool is_real_to_sqlite(const Token& integer) {
  std::int64_t value = 0;
  const auto text = integer.text;
  return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc::result_out_of_range;
}

}  // namespace

// ---- Parameters ----------------------------------------------------------------------------------------------------

SqlTyper::Value SqlTyper::parameter() {
  const auto number = parameter_number(reader_.take().text);
  CHECK(number > 0, "parameters that are read are numbered from 1");
  return {number <= parameters_.size() ? parameters_[number - 1] : Unknown, number};
}

void SqlTyper::settle(const Value& value, ValueType type) {
  if (value.parameter == 0 || value.parameter > parameters_.size() || type == Null) return;
  auto& known = parameters_[value.parameter - 1];
  if (known == Unknown) known = type == Number ? Real : type;
}

void SqlTyper::relate(const Value& left, const Value& right) {
  settle(left, right.type);
  settle(right, left.type);
}

void SqlTyper::relate_all(const std::vector<Value>& values) {
  auto type = Null;
  for (const auto& value : values)
    if (!value.is_open()) type = common_type(type, value.type);
  for (const auto& value : values) settle(value, type);
}

void SqlTyper::require_real(const Token& operation, std::initializer_list<Value> operands) {
  if (misuse_ || std::none_of(operands.begin(), operands.end(), [](const Value& value) { return value.complex; }))
    return;
  misuse_ = ComplexMisuse{to_upper(std::string(operation.text)), operation.span};
}

void SqlTyper::require_real_columns(const Token& operation, const std::vector<TypedColumn>& columns) {
  for (const auto& column : columns) require_real(operation, {{.type = column.type, .complex = column.complex}});
}

void SqlTyper::require_comparable(const Token& operation, const Value& left, const Value& right) {
  const auto is_number = [](const Value& value) { return value.type >= Boolean && value.type <= Number; };
  if (is_number(left) || is_number(right)) require_real(operation, {left, right});
}

SqlTyper::Value SqlTyper::arithmetic(const Token& op, Value left, Value right) {
  require_real(op, {left, right});
  const auto of_number = [](ValueType type) { return type == Boolean ? Integer : type == Text ? Unknown : type; };
  settle(left, of_number(right.type));
  settle(right, of_number(left.type));
  return {arithmetic_type(left.type, right.type)};
}

// ---- From OR to the tightest operators ------------------------------------------------------------------------------

SqlTyper::Value SqlTyper::expression(const NameScope& scope) {
  const Nesting nesting(*this);
  auto left = conjunction(scope);
  while (reader_.accept_word("OR")) {
    settle(left, Boolean);
    settle(conjunction(scope), Boolean);
    left = truth();
  }
  return left;
}

void SqlTyper::condition(const NameScope& scope, const Token& word) {
  const auto value = expression(scope);
  require_real(word, {value});
  settle(value, Boolean);
}

SqlTyper::Value SqlTyper::conjunction(const NameScope& scope) {
  auto left = negation(scope);
  while (reader_.accept_word("AND")) {
    settle(left, Boolean);
    settle(negation(scope), Boolean);
    left = truth();
  }
  return left;
}

SqlTyper::Value SqlTyper::negation(const NameScope& scope) {
  if (!reader_.at_word("NOT") || reader_.at_word("EXISTS", 1)) return equality(scope);
  const Nesting nesting(*this);
  reader_.take();
  settle(negation(scope), Boolean);
  return truth();
}

SqlTyper::Value SqlTyper::equality(const NameScope& scope) {
  auto left = comparison(scope);
  while (equality_tail(left, scope)) left = truth();
  return left;
}

// Reads = <> IS IN LIKE BETWEEN and similar operators; false if there is none.
bool SqlTyper::equality_tail(Value& left, const NameScope& scope) {
  const auto& op = reader_.peek();
  for (const auto* symbol : {"=", "==", "<>", "!="}) {
    if (!reader_.accept_symbol(symbol)) continue;
    const auto right = comparison(scope);
    require_comparable(op, left, right);
    relate(left, right);
    return true;
  }
  if (reader_.accept_word("IS")) {
    reader_.accept_word("NOT");
    if (reader_.accept_word("DISTINCT")) reader_.expect_word("FROM");
    const auto right = comparison(scope);
    require_comparable(op, left, right);
    relate(left, right);
    return true;
  }
  if (reader_.accept_word("ISNULL") || reader_.accept_word("NOTNULL")) return true;
  if (reader_.at_word("NOT") && reader_.at_word("NULL", 1)) {
    reader_.take();
    reader_.take();
    return true;
  }
  const std::size_t ahead = reader_.at_word("NOT") ? 1 : 0;
  const auto& word_op = reader_.peek(ahead);
  const auto takes = [&](std::string_view word) {
    if (!reader_.at_word(word, ahead)) return false;
    for (std::size_t n = 0; n <= ahead; ++n) reader_.take();
    return true;
  };
  if (takes("BETWEEN")) {
    const auto least = comparison(scope);
    reader_.expect_word("AND");
    const auto most = comparison(scope);
    require_real(word_op, {left, least, most});
    relate(left, least);
    relate(left, most);
    return true;
  }
  if (takes("IN")) {
    in_list(word_op, left, scope);
    return true;
  }
  for (const auto* word : {"LIKE", "GLOB", "REGEXP", "MATCH"}) {
    if (!takes(word)) continue;
    settle(left, Text);
    settle(comparison(scope), Text);
    if (reader_.accept_word("ESCAPE")) comparison(scope);
    return true;
  }
  return false;
}

// The right side of IN: (1, 2), (SELECT ...) or a table.
void SqlTyper::in_list(const Token& op, Value& left, const NameScope& scope) {
  if (!reader_.accept_symbol("(")) {
    reader_.expect_name();
    if (reader_.accept_symbol(".")) reader_.expect_name();
    if (reader_.accept_symbol("(")) reader_.skip_parentheses();
    return;
  }
  if (reader_.at_any({"SELECT", "VALUES", "WITH"})) {
    const auto columns = query(&scope);
    if (columns.size() != 1) return reader_.expect_symbol(")");
    require_comparable(op, left, {.type = columns.front().type, .complex = columns.front().complex});
    settle(left, columns.front().type);
  } else if (!reader_.at_symbol(")")) {
    auto values = list(scope);
    for (const auto& value : values) require_comparable(op, left, value);
    values.push_back(left);
    relate_all(values);
  }
  reader_.expect_symbol(")");
}

SqlTyper::Value SqlTyper::comparison(const NameScope& scope) {
  auto left = bits(scope);
  while (reader_.at_symbol("<") || reader_.at_symbol("<=") || reader_.at_symbol(">") || reader_.at_symbol(">=")) {
    const auto& op = reader_.take();
    const auto right = bits(scope);
    require_real(op, {left, right});
    relate(left, right);
    left = truth();
  }
  return left;
}

SqlTyper::Value SqlTyper::bits(const NameScope& scope) {
  auto left = sum(scope);
  while (reader_.at_symbol("&") || reader_.at_symbol("|") || reader_.at_symbol("<<") || reader_.at_symbol(">>")) {
    const auto& op = reader_.take();
    const auto right = sum(scope);
    require_real(op, {left, right});
    settle(left, Integer);
    settle(right, Integer);
    left = {Integer};
  }
  return left;
}

SqlTyper::Value SqlTyper::sum(const NameScope& scope) {
  auto left = product(scope);
  while (reader_.at_symbol("+") || reader_.at_symbol("-")) {
    const auto& op = reader_.take();
    left = arithmetic(op, left, product(scope));
  }
  return left;
}

SqlTyper::Value SqlTyper::product(const NameScope& scope) {
  auto left = concatenation(scope);
  while (reader_.at_symbol("*") || reader_.at_symbol("/") || reader_.at_symbol("%")) {
    const auto& op = reader_.take();
    left = arithmetic(op, left, concatenation(scope));
  }
  return left;
}

SqlTyper::Value SqlTyper::concatenation(const NameScope& scope) {
  auto left = unary(scope);
  for (;;) {
    if (reader_.accept_symbol("||")) {
      const auto right = unary(scope);
      settle(left, Text);
      settle(right, Text);
      left = {.type = Text, .complex = left.complex || right.complex, .shown = true};
    } else if (reader_.accept_symbol("->")) {
      unary(scope);
      left = {Text};
    } else if (reader_.accept_symbol("->>")) {
      unary(scope);
      left = {Unknown};
    } else if (reader_.accept_word("COLLATE")) {
      reader_.expect_name();
    } else {
      return left;
    }
  }
}

SqlTyper::Value SqlTyper::unary(const NameScope& scope) {
  const Nesting nesting(*this);
  if (reader_.accept_symbol("+")) return unary(scope);
  const auto& op = reader_.peek();
  if (reader_.accept_symbol("-")) return arithmetic(op, {Integer}, unary(scope));
  if (!reader_.accept_symbol("~")) return primary(scope);
  const auto operand = unary(scope);
  require_real(op, {operand});
  settle(operand, Integer);
  return {Integer};
}

SqlTyper::Value SqlTyper::primary(const NameScope& scope) {
  const auto& token = reader_.peek();
  switch (token.kind) {
    case Kind::Integer: return Value{is_real_to_sqlite(reader_.take()) ? Real : Integer};
    case Kind::Real: return reader_.take(), Value{Real};
    case Kind::String: return reader_.take(), Value{Text};
    case Kind::Bits: return reader_.take(), Value{Blob};
    case Kind::Parameter: return parameter();
    case Kind::Word: return word(scope);
    case Kind::QuotedName: return column_or_call(scope);
    default: break;
  }
  if (reader_.accept_symbol(":")) return reader_.expect_name(), Value{};  // the variable of a loop
  reader_.expect_symbol("(");
  return parentheses(scope);
}

// Reads ( expression ), ( query ), or a row of several values, whose type is unknown.
SqlTyper::Value SqlTyper::parentheses(const NameScope& scope) {
  Value value;
  if (reader_.at_any({"SELECT", "VALUES", "WITH"})) {
    const auto columns = query(&scope);
    if (columns.size() == 1) value = {.type = columns.front().type, .complex = columns.front().complex};
  } else {
    const auto values = list(scope);
    if (values.size() == 1) value = values.front();
  }
  reader_.expect_symbol(")");
  return value;
}

std::vector<SqlTyper::Value> SqlTyper::list(const NameScope& scope) {
  std::vector<Value> values;
  do {
    values.push_back(expression(scope));
  } while (reader_.accept_symbol(","));
  return values;
}

// ---- Words ---------------------------------------------------------------------------------------------------------

SqlTyper::Value SqlTyper::word(const NameScope& scope) {
  const bool plain = !reader_.at_symbol(".", 1) && !reader_.at_symbol("(", 1);
  if (plain && reader_.accept_word("NULL")) return {Null};
  if (plain && reader_.at_any({"CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP"}))
    return reader_.take(), Value{Text};
  if (reader_.accept_word("CASE")) return case_of(scope);
  if (reader_.at_word("CAST") && reader_.at_symbol("(", 1)) return cast(scope);
  if (reader_.at_any({"EXISTS", "NOT"})) {
    reader_.accept_word("NOT");
    reader_.expect_word("EXISTS");
    reader_.expect_symbol("(");
    query(&scope);
    reader_.expect_symbol(")");
    return truth();
  }
  if (is_keyword_of_clause(reader_.peek())) throw UnknownSql();
  return column_or_call(scope);
}

SqlTyper::Value SqlTyper::column_or_call(const NameScope& scope) {
  const auto& first = reader_.peek();
  const bool quoted = first.is(Kind::QuotedName);
  const auto value_of = [](const TypedColumn& column) { return Value{.type = column.type, .complex = column.complex}; };
  auto name = reader_.expect_name();
  if (reader_.accept_symbol("(")) return call(first, scope);
  if (!reader_.accept_symbol(".")) {
    const auto found = scope.find("", name);
    const bool truth_word = equal_ignoring_case(name, "TRUE") || equal_ignoring_case(name, "FALSE");
    return found.type == Unknown && truth_word && !quoted ? truth() : value_of(found);
  }
  auto column = reader_.expect_name();
  if (!reader_.accept_symbol(".")) return value_of(scope.find(name, column));
  name = std::exchange(column, reader_.expect_name());  // the name before was a schema
  return value_of(scope.find(name, column));
}

SqlTyper::Value SqlTyper::call(const Token& called, const NameScope& scope) {
  const auto function = name_of(called);
  std::vector<Value> arguments;
  reader_.accept_word("DISTINCT");
  if (!reader_.accept_symbol("*") && !reader_.at_symbol(")")) arguments = list(scope);
  if (reader_.at_word("ORDER")) throw UnknownSql();  // not in SQLite yet
  reader_.expect_symbol(")");
  skip_call_tail(scope);
  const bool alike = equal_ignoring_case(function, "coalesce") || equal_ignoring_case(function, "ifnull") ||
                     equal_ignoring_case(function, "nullif") || equal_ignoring_case(function, "max") ||
                     equal_ignoring_case(function, "min");
  if (alike) relate_all(arguments);
  std::vector<ValueType> types;
  bool complex = false;
  for (const auto& argument : arguments) {
    types.push_back(argument.type);
    complex = complex || argument.complex;
    if (takes_numbers(function)) require_real(called, {argument});
  }
  const auto own = names_.function(function);
  if (own != Unknown) return {own};
  return {.type = function_type(function, types).value_or(Unknown), .complex = complex && gives_argument(function)};
}

// Skips FILTER (WHERE ...) OVER (...).
void SqlTyper::skip_call_tail(const NameScope& scope) {
  if (reader_.at_word("FILTER") && reader_.at_symbol("(", 1)) {
    const auto& word = reader_.take();
    reader_.take();
    reader_.expect_word("WHERE");
    condition(scope, word);
    reader_.expect_symbol(")");
  }
  if (!reader_.accept_word("OVER")) return;
  if (!reader_.accept_symbol("(")) return static_cast<void>(reader_.expect_name());
  if (reader_.accept_word("PARTITION")) {
    reader_.expect_word("BY");
    list(scope);
  }
  if (reader_.at_word("ORDER")) sort_keys(scope);
  reader_.skip_parentheses();
}

SqlTyper::Value SqlTyper::case_of(const NameScope& scope) {
  std::vector<Value> tested;
  std::vector<Value> results;
  const bool has_base = !reader_.at_word("WHEN");
  if (has_base) tested.push_back(expression(scope));
  const auto& when = reader_.peek();
  while (reader_.accept_word("WHEN")) {
    const auto condition = expression(scope);
    if (has_base) tested.push_back(condition);
    else require_real(when, {condition}), settle(condition, Boolean);
    reader_.expect_word("THEN");
    results.push_back(expression(scope));
  }
  if (reader_.accept_word("ELSE")) results.push_back(expression(scope));
  reader_.expect_word("END");
  for (const auto& value : tested) require_comparable(when, tested.front(), value);
  relate_all(tested);
  relate_all(results);
  Value value{.type = Null};
  for (const auto& result : results) {
    value.type = common_type(value.type, result.type);
    value.complex = value.complex || result.complex;
  }
  return value;
}

SqlTyper::Value SqlTyper::cast(const NameScope& scope) {
  const auto& word = reader_.take();
  reader_.take();
  const auto value = expression(scope);
  reader_.expect_word("AS");
  std::string name;
  while (reader_.peek().is_name()) name += name_of(reader_.take());
  if (reader_.accept_symbol("(")) reader_.skip_parentheses();
  reader_.expect_symbol(")");
  const auto type = cast_type(name);
  settle(value, type);
  const bool to_number = type != Text && type != Blob;
  if (to_number) require_real(word, {value});
  return {.type = type, .complex = value.complex && !to_number, .shown = true};
}

}  // namespace eindb
