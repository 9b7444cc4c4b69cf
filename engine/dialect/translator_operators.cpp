#include <algorithm>
#include <array>
#include <utility>

#include "common/check.hpp"
#include "engine/dialect/translator.hpp"
#include "parser/token_value.hpp"

namespace eindb::dialect {
namespace {

constexpr std::array<std::string_view, 6> kComparisons{"=", "<>", "<", ">", "<=", ">="};

bool is_comparison(std::string_view name) {
  return std::find(kComparisons.begin(), kComparisons.end(), name) != kComparisons.end();
}

SqlText call_of(std::string_view function, std::initializer_list<SqlText> arguments, int location) {
  return SqlText(std::string(function) + "(", location) + joined(std::vector<SqlText>(arguments)) + ")";
}

}  // namespace

void Translator::no_operator(std::string_view name, SqlType left, SqlType right, int location) const {
  refuse("42883",
         "operator does not exist: " + std::string(name_of(left)) + " " + std::string(name) + " " +
             std::string(name_of(right)),
         location,
         hint_for(left == SqlType::Complex ? left : right,
                  "No operator matches the given name and argument types. You might need to add explicit type casts."));
}

Value Translator::operation(const PgQuery__AExpr& node, const Scope& scope) {
  switch (node.kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP: break;
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ANY: return any_of(node, scope);
    case PG_QUERY__A__EXPR__KIND__AEXPR_LIKE:
    case PG_QUERY__A__EXPR__KIND__AEXPR_ILIKE: return like(node, scope);
    case PG_QUERY__A__EXPR__KIND__AEXPR_IN: return in_list(node, scope);
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM: return between(node, scope);
    case PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_DISTINCT: {
      auto left = checked(expression(*node.lexpr, scope));
      auto right = checked(expression(*node.rexpr, scope));
      compare_types("=", left, right, node.location);
      const bool distinct = node.kind == PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT;
      return {.text = SqlText("(") + left.text + (distinct ? " IS NOT " : " IS ") + right.text + ")",
              .type = SqlType::Bool,
              .location = node.location};
    }
    case PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF: {
      auto left = checked(expression(*node.lexpr, scope));
      auto right = checked(expression(*node.rexpr, scope));
      compare_types("=", left, right, node.location);
      return {.text = call_of("nullif", {left.text, right.text}, node.location),
              .type = left.type,
              .location = node.location,
              .name = "nullif"};
    }
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ALL: return any_of(node, scope);
    case PG_QUERY__A__EXPR__KIND__AEXPR_SIMILAR:
      unsupported("SIMILAR TO", node.location, "use a regular expression: text ~ '^(a|b)$'");
    default: unsupported("an operator of this form", node.location);
  }
  const auto name = name_in_catalog(nodes(node.n_name, node.name));
  if (node.lexpr != nullptr && node.lexpr->node_case == PG_QUERY__NODE__NODE_ROW_EXPR)
    return row_comparison(name, row(*node.lexpr, scope), row(*node.rexpr, scope), node.location);
  auto right = expression(*node.rexpr, scope);
  if (node.lexpr == nullptr) return unary(name, std::move(right), node.location);
  auto left = expression(*node.lexpr, scope);
  // psql compares names by OPERATOR(pg_catalog.~), in lower case unless they are quoted; eindb's names ignore the case.
  if (node.n_name == 2 && name == "~") return match("~*", std::move(left), std::move(right), node.location);
  return binary(name, std::move(left), std::move(right), node.location);
}

// PostgreSQL compares rows from left to right.
Value Translator::row_comparison(std::string_view name, std::vector<Value> left, std::vector<Value> right,
                                 int location) {
  if (name == "!=") name = "<>";
  if (!is_comparison(name)) unsupported("this operator between rows", location);
  if (left.size() != right.size()) refuse("42601", "unequal number of entries in row expressions", location);
  std::vector<SqlText> lefts;
  std::vector<SqlText> rights;
  std::vector<SqlText> parts;
  for (std::size_t n = 0; n < left.size(); ++n) {
    if (name == "=" || name == "<>") {
      parts.push_back(comparison(name, std::move(left[n]), std::move(right[n]), location).text);
      continue;
    }
    left[n] = checked(std::move(left[n]));
    right[n] = checked(std::move(right[n]));
    compare_types(name, left[n], right[n], location);
    lefts.push_back(left[n].text);
    rights.push_back(right[n].text);
  }
  auto text = name == "=" ? joined(parts, " AND ") : joined(parts, " OR ");
  if (parts.empty())
    text = SqlText("(") + joined(lefts) + SqlText(") " + std::string(name) + " (", location) + joined(rights) + ")";
  return {.text = SqlText("(") + text + ")", .type = SqlType::Bool, .location = location};
}

std::vector<Value> Translator::row(const PgNode& node, const Scope& scope) {
  if (node.node_case != PG_QUERY__NODE__NODE_ROW_EXPR)
    unsupported("the comparison of a row with this", -1, "write a row on both sides: (a, b) = (c, d)");
  std::vector<Value> values;
  for (const auto* each : nodes(node.row_expr->n_args, node.row_expr->args)) values.push_back(expression(*each, scope));
  return values;
}

Value Translator::match(std::string_view name, Value text, Value pattern, int location) {
  text = coerce(with_blanks(std::move(text)), SqlType::Text, Coercion::Implicit);
  pattern = coerce(std::move(pattern), SqlType::Text, Coercion::Implicit);
  const auto wanted = name.ends_with('*') ? SqlText("'(?i)' || ") + pattern.text : pattern.text;
  auto match = SqlText("(", location) + text.text + " REGEXP (" + wanted + "))";
  return {.text = name.starts_with('!') ? SqlText("(NOT ") + match + ")" : match,
          .type = SqlType::Bool,
          .location = location};
}

Value Translator::unary(std::string_view name, Value operand, int location) {
  if (name == "~") {
    operand = coerce(std::move(operand), SqlType::Integer, Coercion::Implicit);
    return {.text = SqlText("(~", location) + operand.text + ")", .type = SqlType::Integer, .location = location};
  }
  if (name != "-" && name != "+" && name != "@") unsupported("the operator " + std::string(name), location);
  if (operand.type == SqlType::Unknown) operand = settle(std::move(operand), SqlType::Float);
  if (operand.type == SqlType::Interval && name == "-")
    return {.text = call_of("pg_interval_minus", {"'00:00:00'", operand.text}, location),
            .type = SqlType::Interval,
            .location = location};
  if (!is_number(operand.type) && operand.type != SqlType::Any)
    refuse("42883", "operator does not exist: " + std::string(name) + " " + std::string(name_of(operand.type)),
           location,
           hint_for(operand.type,
                    "No operator matches the given name and argument type. You might need to add an explicit type "
                    "cast."));
  if (operand.type == SqlType::Any) operand.text = call_of("pg_numeric", {operand.text}, location);
  if (name == "+") return operand;
  operand.may_overflow = operand.type == SqlType::Integer;
  operand.text = name == "@" ? call_of("abs", {operand.text}, location) : SqlText("(-", location) + operand.text + ")";
  operand.location = location;
  operand.name = "?column?";
  operand.parameter = 0;
  operand.declared.clear();
  operand.literal.reset();
  return operand;
}

Value Translator::binary(std::string_view name, Value left, Value right, int location) {
  if (name == "!=") name = "<>";
  if (is_comparison(name)) return comparison(name, std::move(left), std::move(right), location);
  if (name == "->" || name == "->>" || name == "#>" || name == "#>>")
    return json_part(name, checked(std::move(left)), checked(std::move(right)), location);
  if (name == "||") return concatenation(checked(std::move(left)), checked(std::move(right)), location);
  if (name == "~" || name == "~*" || name == "!~" || name == "!~*")
    return match(name, std::move(left), std::move(right), location);
  if (name == "~~" || name == "!~~" || name == "~~*" || name == "!~~*") {
    left = coerce(std::move(left), SqlType::Text, Coercion::Implicit);
    right = coerce(std::move(right), SqlType::Text, Coercion::Implicit);
    auto like = call_of(name.ends_with('*') ? "pg_ilike" : "pg_like", {left.text, right.text}, location);
    return {.text = name.starts_with('!') ? SqlText("(NOT ") + like + ")" : like,
            .type = SqlType::Bool,
            .location = location};
  }
  if (name == "->" || name == "->>") {
    if (right.type == SqlType::Unknown) right = settle(std::move(right), SqlType::Text);
    left = left.type == SqlType::Unknown ? settle(std::move(left), SqlType::Text) : checked(std::move(left));
    auto text = SqlText("(") + left.text + SqlText(" " + std::string(name) + " ", location) + right.text + ")";
    const bool as_text = name == "->>";
    if (as_text) text = SqlText("CAST(") + text + " AS TEXT)";
    return {.text = text, .type = as_text ? SqlType::Text : SqlType::Json, .location = location};
  }
  return arithmetic(name, std::move(left), std::move(right), location);
}

Value Translator::arithmetic(std::string_view name, Value left, Value right, int location) {
  const auto is_date = [](SqlType type) {
    return is_moment(type) || type == SqlType::Time || type == SqlType::Interval;
  };
  if (is_date(left.type) || is_date(right.type))
    return moment_arithmetic(name, checked(std::move(left)), checked(std::move(right)), location);
  constexpr std::array<std::string_view, 4> kOfBits{"&", "|", "<<", ">>"};
  if (std::find(kOfBits.begin(), kOfBits.end(), name) != kOfBits.end()) {
    left = coerce(std::move(left), SqlType::Integer, Coercion::Implicit);
    right = coerce(std::move(right), SqlType::Integer, Coercion::Implicit);
    return {.text = SqlText("(") + left.text + SqlText(" " + std::string(name) + " ", location) + right.text + ")",
            .type = SqlType::Integer,
            .location = location};
  }
  constexpr std::array<std::string_view, 6> kKnown{"+", "-", "*", "/", "%", "^"};
  if (std::find(kKnown.begin(), kKnown.end(), name) == kKnown.end())
    unsupported("the operator " + std::string(name), location);
  if (left.type == SqlType::Unknown && right.type == SqlType::Unknown) {
    if (left.parameter == 0 && right.parameter == 0)
      refuse("42725", "operator is not unique: unknown " + std::string(name) + " unknown", location,
             "Could not choose a best candidate operator. You might need to add explicit type casts.");
    left = settle(std::move(left), SqlType::Integer);
  }
  if (left.type == SqlType::Unknown) left = settle(std::move(left), right.type);
  if (right.type == SqlType::Unknown) right = settle(std::move(right), left.type);
  const auto fits = [](SqlType type) { return is_number(type) || type == SqlType::Any; };
  if (!fits(left.type) || !fits(right.type)) no_operator(name, left.type, right.type, location);

  const bool any = left.type == SqlType::Any || right.type == SqlType::Any;
  const auto type = any ? SqlType::Any : std::max(left.type, right.type);
  // SQLite would take the number that a text begins with.
  for (auto* operand : {&left, &right})
    if (operand->type == SqlType::Any) operand->text = call_of("pg_numeric", {operand->text}, location);
  Value out{.type = type, .location = location};
  if (name == "+" || name == "-" || name == "*") {
    out.may_overflow = type == SqlType::Integer;
    if (out.may_overflow || any) {
      out.text = SqlText("(") + left.text + SqlText(" " + std::string(name) + " ", location) + right.text + ")";
      return out;
    }
    left = checked(std::move(left));
    right = checked(std::move(right));
    const std::string function = name == "+" ? "pg_plus" : name == "-" ? "pg_minus" : "pg_times";
    out.text = call_of(function + (type == SqlType::Numeric ? "_numeric" : ""), {left.text, right.text}, location);
    return out;
  }
  left = checked(std::move(left));
  right = checked(std::move(right));
  if (name == "^") {
    out.text = call_of("pg_power", {left.text, right.text}, location);
    out.type = type == SqlType::Numeric ? SqlType::Numeric : SqlType::Float;
    return out;
  }
  const bool divides = name == "/";
  if (type == SqlType::Integer)
    out.text = call_of(divides ? "pg_divide_integers" : "pg_modulo_integers", {left.text, right.text}, location);
  else if (type == SqlType::Any)
    out.text = call_of(divides ? "pg_divide" : "pg_modulo", {left.text, right.text}, location);
  else if (divides)
    out.text =
        call_of(type == SqlType::Numeric ? "pg_divide_numeric" : "pg_divide_reals", {left.text, right.text}, location);
  else if (type == SqlType::Numeric) out.text = call_of("pg_modulo_reals", {left.text, right.text}, location);
  else no_operator(name, left.type, right.type, location);
  return out;
}

// date + integer, date - date, timestamp - timestamp, timestamp + interval, ...
Value Translator::moment_arithmetic(std::string_view name, Value left, Value right, int location) {
  using enum SqlType;
  if (name == "+" && (left.type == Integer || left.type == Interval) && right.type != Interval) std::swap(left, right);
  if (left.type == Unknown && is_moment(right.type) && name == "-") left = settle(std::move(left), right.type);
  if (right.type == Unknown && (left.type == Date || left.type == Time) && name == "-")
    right = settle(std::move(right), left.type);
  else if (right.type == Unknown) right = settle(std::move(right), left.type == Date ? Integer : Interval);
  if (left.type == Unknown) left = settle(std::move(left), Interval);
  const auto made = [&](std::string_view function, SqlType type) {
    return Value{.text = call_of(function, {left.text, right.text}, location), .type = type, .location = location};
  };
  const bool minus = name == "-";
  if (!minus && name != "+") {
    if ((name == "*" || name == "/") && left.type == Interval && is_number(right.type))
      return made(name == "*" ? "pg_interval_times" : "pg_interval_by", Interval);
    if (name == "*" && right.type == Interval && is_number(left.type)) {
      std::swap(left, right);
      return made("pg_interval_times", Interval);
    }
    no_operator(name, left.type, right.type, location);
  }
  if (left.type == Date && right.type == Integer) return made(minus ? "pg_date_minus" : "pg_date_plus", Date);
  if (left.type == Date && right.type == Date && minus) return made("pg_days_between", Integer);
  if (is_moment(left.type) && is_moment(right.type) && minus) {
    compare_types(name, left, right, location);
    return made("pg_time_between", Interval);
  }
  if (is_moment(left.type) && right.type == Interval) {
    const auto type = left.type == Date ? Timestamp : left.type;
    left = coerce(std::move(left), type, Coercion::Implicit);
    auto out = made(minus ? "pg_timestamp_minus" : "pg_timestamp_plus", type);
    return out;
  }
  if (left.type == Interval && right.type == Interval)
    return made(minus ? "pg_interval_minus" : "pg_interval_plus", Interval);
  if (left.type == Time || right.type == Time)
    return time_arithmetic(name, std::move(left), std::move(right), location);
  no_operator(name, left.type, right.type, location);
}

// date + time, timestamp + time, time + interval, time - time
Value Translator::time_arithmetic(std::string_view name, Value left, Value right, int location) {
  using enum SqlType;
  const bool minus = name == "-";
  if (!minus && left.type == Time && is_moment(right.type)) std::swap(left, right);
  const auto on_a_day = [](const Value& time) { return SqlText("('1970-01-02 ' || ") + time.text + ")"; };
  const std::string shift = minus ? "pg_timestamp_minus" : "pg_timestamp_plus";
  Value out{.location = location};
  if (left.type == Date && right.type == Time) {
    left = coerce(std::move(left), Timestamp, Coercion::Implicit);
    out.type = Timestamp;
    out.text = call_of(shift, {left.text, right.text}, location);
  } else if (is_moment(left.type) && right.type == Time) {
    out.type = left.type;
    out.text = call_of(shift, {left.text, right.text}, location);
  } else if (left.type == Time && right.type == Interval) {
    out.type = Time;
    out.text = call_of("pg_time", {call_of(shift, {on_a_day(left), right.text}, location)}, location);
  } else if (left.type == Time && right.type == Time && minus) {
    out.type = Interval;
    out.text = call_of("pg_time_between", {on_a_day(left), on_a_day(right)}, location);
  } else {
    no_operator(name, left.type, right.type, location);
  }
  return out;
}

Value Translator::concatenation(Value left, Value right, int location) {
  if (left.type == SqlType::Array || right.type == SqlType::Array || left.type == SqlType::Json ||
      right.type == SqlType::Json || left.type == SqlType::Bytea || right.type == SqlType::Bytea)
    return joined_arrays(std::move(left), std::move(right), location);
  if (left.type == SqlType::Complex || right.type == SqlType::Complex)
    no_operator("||", left.type, right.type, location);
  const auto is_text = [](const Value& value) {
    return value.type == SqlType::Text || value.type == SqlType::Unknown || value.type == SqlType::Any;
  };
  if (!is_text(left) && !is_text(right)) no_operator("||", left.type, right.type, location);
  left = to_text(std::move(left));
  right = to_text(std::move(right));
  return {.text = SqlText("(") + left.text + SqlText(" || ", location) + right.text + ")",
          .type = SqlType::Text,
          .location = location};
}

// json -> key, json ->> index, json #> path, json #>> path
Value Translator::json_part(std::string_view name, Value left, Value right, int location) {
  const bool by_path = name.starts_with('#');
  if (left.type == SqlType::Unknown) left = settle(std::move(left), SqlType::Json);
  if (left.type != SqlType::Json && left.type != SqlType::Any) no_operator(name, left.type, right.type, location);
  if (right.type == SqlType::Unknown) right = settle(std::move(right), by_path ? SqlType::Array : SqlType::Text);
  const bool fits =
      by_path ? right.type == SqlType::Array : right.type == SqlType::Text || right.type == SqlType::Integer;
  if (!fits && right.type != SqlType::Any) no_operator(name, left.type, right.type, location);
  const bool as_text = name.ends_with(">>");
  const std::string function = std::string(by_path ? "pg_json_path" : "pg_json_get") + (as_text ? "_text" : "");
  return {.text = call_of(function, {left.text, right.text}, location),
          .type = as_text ? SqlType::Text : SqlType::Json,
          .location = location};
}

// A constant beside a char(n) is one, too: blanks at its end do not count.
void Translator::settle_beside(Value& value, const Value& other) {
  if (value.type != SqlType::Unknown) return;
  value = settle(std::move(value), other.type);
  if (other.type == SqlType::Text && padded_width(other.declared) && !value.is_null)
    value.text = SqlText("rtrim(", value.location) + value.text + ")";
}

void Translator::compare_types(std::string_view name, Value& left, Value& right, int location) {
  using enum SqlType;
  if (left.type == Unknown && right.type == Unknown) {
    left = settle(std::move(left), Text);
    right = settle(std::move(right), Text);
  }
  settle_beside(left, right);
  settle_beside(right, left);
  if (left.type == Any || right.type == Any || (is_number(left.type) && is_number(right.type))) return;
  const bool is_complex = left.type == Complex || right.type == Complex;
  if (is_complex && (left.type != right.type || (name != "=" && name != "<>")))
    no_operator(name, left.type, right.type, location);
  if (left.type == Json || right.type == Json)
    unsupported("the comparison of json", location, "compare parts of it: value ->> 'name' = 'x'");
  if (left.type == Interval && right.type == Interval) {
    left.text = call_of("pg_interval_span", {left.text}, location);
    right.text = call_of("pg_interval_span", {right.text}, location);
    return;
  }
  if (left.type == right.type) return;
  if (!is_moment(left.type) || !is_moment(right.type)) no_operator(name, left.type, right.type, location);
  const auto type = std::max(left.type, right.type);
  left = coerce(std::move(left), type, Coercion::Implicit);
  right = coerce(std::move(right), type, Coercion::Implicit);
}

Value Translator::comparison(std::string_view name, Value left, Value right, int location) {
  left = checked(std::move(left));
  right = checked(std::move(right));
  compare_types(name, left, right, location);
  return {.text = SqlText("(") + left.text + SqlText(" " + std::string(name) + " ", location) + right.text + ")",
          .type = SqlType::Bool,
          .location = location};
}

Value Translator::like(const PgQuery__AExpr& node, const Scope& scope) {
  const auto name = name_in_catalog(nodes(node.n_name, node.name));
  auto text = expression(*node.lexpr, scope);
  const auto* pattern = node.rexpr;
  SqlText escape;
  if (pattern->node_case == PG_QUERY__NODE__NODE_FUNC_CALL) {
    const auto& call = *pattern->func_call;
    if (name_in_catalog(nodes(call.n_funcname, call.funcname)) == "like_escape" && call.n_args == 2) {
      escape = SqlText(", ") + coerce(expression(*call.args[1], scope), SqlType::Text, Coercion::Implicit).text;
      pattern = call.args[0];
    }
  }
  auto wanted = expression(*pattern, scope);
  if (text.type != SqlType::Unknown && text.type != SqlType::Text && text.type != SqlType::Any)
    no_operator(name, text.type, wanted.type, node.location);
  text = coerce(with_blanks(std::move(text)), SqlType::Text, Coercion::Implicit);
  wanted = coerce(std::move(wanted), SqlType::Text, Coercion::Implicit);
  const bool any_case = node.kind == PG_QUERY__A__EXPR__KIND__AEXPR_ILIKE;
  auto match =
      SqlText(any_case ? "pg_ilike(" : "pg_like(", node.location) + text.text + ", " + wanted.text + escape + ")";
  return {.text = name.starts_with('!') ? SqlText("(NOT ") + match + ")" : match,
          .type = SqlType::Bool,
          .location = node.location};
}

Value Translator::in_list(const PgQuery__AExpr& node, const Scope& scope) {
  CHECK(node.rexpr->node_case == PG_QUERY__NODE__NODE_LIST, "IN has a list behind it");
  const bool excludes = name_in_catalog(nodes(node.n_name, node.name)) == "<>";
  if (node.lexpr->node_case == PG_QUERY__NODE__NODE_ROW_EXPR) {
    std::vector<SqlText> equal;
    for (const auto* each : nodes(node.rexpr->list->n_items, node.rexpr->list->items))
      equal.push_back(row_comparison("=", row(*node.lexpr, scope), row(*each, scope), node.location).text);
    auto any = SqlText("(") + joined(equal, " OR ") + ")";
    return {.text = excludes ? SqlText("(NOT ") + any + ")" : any, .type = SqlType::Bool, .location = node.location};
  }
  std::vector<Value> values{checked(expression(*node.lexpr, scope))};
  for (const auto* each : nodes(node.rexpr->list->n_items, node.rexpr->list->items))
    values.push_back(checked(expression(*each, scope)));
  if (values[0].type == SqlType::Unknown)
    for (std::size_t n = 1; n < values.size() && values[0].type == SqlType::Unknown; ++n)
      if (values[n].type != SqlType::Unknown) values[0] = settle(std::move(values[0]), values[n].type);
  // Where an element needs a conversion of the left side, each is compared alone.
  const auto all = values;
  std::vector<SqlText> texts;
  bool alike = true;
  for (std::size_t n = 1; n < values.size(); ++n) {
    auto left = values[0];
    compare_types("=", left, values[n], node.location);
    if (values[0].type == SqlType::Unknown) values[0] = left;
    alike = alike && left.text.str() == values[0].text.str();
    texts.push_back(values[n].text);
  }
  auto text =
      SqlText("(") + values[0].text + SqlText(excludes ? " NOT IN (" : " IN (", node.location) + joined(texts) + "))";
  if (!alike) {
    texts.clear();
    for (std::size_t n = 1; n < all.size(); ++n) texts.push_back(comparison("=", all[0], all[n], node.location).text);
    text = SqlText(excludes ? "(NOT (" : "((", node.location) + joined(texts, " OR ") + "))";
  }
  return {.text = text, .type = SqlType::Bool, .location = node.location};
}

Value Translator::between(const PgQuery__AExpr& node, const Scope& scope) {
  CHECK(node.rexpr->node_case == PG_QUERY__NODE__NODE_LIST && node.rexpr->list->n_items == 2, "BETWEEN has two bounds");
  const auto bounds = nodes(node.rexpr->list->n_items, node.rexpr->list->items);
  const auto within = [&](const PgNode& low, const PgNode& high) {
    auto above = comparison(">=", expression(*node.lexpr, scope), expression(low, scope), node.location);
    auto below = comparison("<=", expression(*node.lexpr, scope), expression(high, scope), node.location);
    return SqlText("(") + above.text + " AND " + below.text + ")";
  };
  const bool symmetric = node.kind == PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM ||
                         node.kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM;
  const bool negated = node.kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN ||
                       node.kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM;
  auto text = within(*bounds[0], *bounds[1]);
  if (symmetric) text = SqlText("(") + text + " OR " + within(*bounds[1], *bounds[0]) + ")";
  return {.text = negated ? SqlText("(NOT ") + text + ")" : text, .type = SqlType::Bool, .location = node.location};
}

// x < ANY (array): true if one comparison is, else unknown if one is, else false; with ALL the other way round.
Value Translator::compared_elements(const std::string& name, bool all, const PgQuery__AExpr& node, const Scope& scope) {
  const auto operation = name == "!=" ? std::string("<>") : name;
  if (!is_comparison(operation))
    unsupported((all ? "ALL with the operator " : "ANY with the operator ") + name, node.location,
                "write EXISTS (SELECT 1 FROM unnest(array) AS a(x) WHERE ...)");
  auto left = checked(expression(*node.lexpr, scope));
  auto array = expression(*node.rexpr, scope);
  if (array.type == SqlType::Unknown) array = to_array(std::move(array), left.type);
  if (array.type != SqlType::Array)
    refuse("42809", std::string("op ") + (all ? "ALL" : "ANY") + " (array) requires array on right side",
           node.location);
  Value each{.text = "\"pg_element\".\"value\"", .type = element_of(array.declared), .location = array.location};
  const auto test = comparison(operation, std::move(left), std::move(each), node.location).text;
  const auto chosen =
      all ? SqlText("CASE WHEN NOT min") + test + " THEN FALSE" : SqlText("CASE WHEN max") + test + " THEN TRUE";
  return {.text = SqlText("(CASE WHEN ", node.location) + array.text + " IS NOT NULL THEN (SELECT " + chosen +
                  " WHEN count(*) > count" + test + " THEN NULL ELSE " + (all ? "TRUE" : "FALSE") +
                  " END FROM json_each(" + elements_of(array) + ") AS \"pg_element\") END)",
          .type = SqlType::Bool,
          .location = node.location};
}

// x = ANY (array) and x <> ALL (array), as IN and NOT IN with its elements.
Value Translator::any_of(const PgQuery__AExpr& node, const Scope& scope) {
  const bool all = node.kind == PG_QUERY__A__EXPR__KIND__AEXPR_OP_ALL;
  const auto name = name_in_catalog(nodes(node.n_name, node.name));
  if (name != (all ? "<>" : "=")) return compared_elements(name, all, node, scope);
  auto left = checked(expression(*node.lexpr, scope));
  if (node.rexpr->node_case == PG_QUERY__NODE__NODE_A_ARRAY_EXPR) {
    const auto& list = *node.rexpr->a_array_expr;
    std::vector<SqlText> texts;
    for (const auto* each : nodes(list.n_elements, list.elements)) {
      auto value = checked(expression(*each, scope));
      if (left.type == SqlType::Text) value = settle(std::move(value), SqlType::Text);  // not char(n), if left is one
      auto other = left;
      compare_types("=", other, value, node.location);
      if (left.type == SqlType::Unknown) left = other;
      texts.push_back(value.text);
    }
    return {
        .text = SqlText("(") + left.text + SqlText(all ? " NOT IN (" : " IN (", node.location) + joined(texts) + "))",
        .type = SqlType::Bool,
        .location = node.location};
  }
  auto right = expression(*node.rexpr, scope);
  if (right.type == SqlType::Unknown) right = to_array(std::move(right), left.type);
  if (const auto element = element_of(right.declared); element != SqlType::Any) {
    Value each{.type = element, .location = right.location};
    compare_types("=", left, each, node.location);
  }
  if (right.type != SqlType::Array && right.type != SqlType::Any && right.type != SqlType::Text)
    refuse("42809", std::string("op ") + (all ? "ALL" : "ANY") + " (array) requires array on right side",
           node.location);
  if (left.type == SqlType::Unknown) left = settle(std::move(left), SqlType::Text);
  return {.text = SqlText("(") + left.text +
                  SqlText(all ? " NOT IN (SELECT value FROM json_each(coalesce("
                              : " IN (SELECT value FROM json_each(coalesce(",
                          node.location) +
                  elements_of(right) + ", '[null]'))))",
          .type = SqlType::Bool,
          .location = node.location};
}

}  // namespace eindb::dialect
