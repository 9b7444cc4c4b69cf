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
         location, "No operator matches the given name and argument types. You might need to add explicit type casts.");
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
    default: throw NotTranslated();
  }
  const auto name = name_in_catalog(nodes(node.n_name, node.name));
  const bool has_path = name.starts_with("#>") && node.rexpr->node_case == PG_QUERY__NODE__NODE_A_ARRAY_EXPR;
  auto right = has_path ? path(*node.rexpr->a_array_expr, scope) : expression(*node.rexpr, scope);
  if (node.lexpr == nullptr) return unary(name, std::move(right), node.location);
  if (node.lexpr->node_case == PG_QUERY__NODE__NODE_ROW_EXPR) throw NotTranslated();
  return binary(name, expression(*node.lexpr, scope), std::move(right), node.location);
}

Value Translator::unary(std::string_view name, Value operand, int location) {
  if (name != "-" && name != "+" && name != "@") throw NotTranslated();
  if (operand.type == SqlType::Unknown) operand = settle(std::move(operand), SqlType::Float);
  if (!is_number(operand.type) && operand.type != SqlType::Any)
    refuse("42883", "operator does not exist: " + std::string(name) + " " + std::string(name_of(operand.type)),
           location,
           "No operator matches the given name and argument type. You might need to add an explicit type cast.");
  if (name == "+") return operand;
  operand.may_overflow = operand.type == SqlType::Integer;
  operand.text = name == "@" ? call_of("abs", {operand.text}, location) : SqlText("(-", location) + operand.text + ")";
  operand.location = location;
  operand.name = "?column?";
  operand.parameter = 0;
  operand.literal.reset();
  return operand;
}

Value Translator::binary(std::string_view name, Value left, Value right, int location) {
  if (name == "!=") name = "<>";
  if (is_comparison(name)) return comparison(name, std::move(left), std::move(right), location);
  if (name == "->" || name == "->>" || name == "#>" || name == "#>>")
    return json_part(name, checked(std::move(left)), checked(std::move(right)), location);
  if (name == "||") return concatenation(checked(std::move(left)), checked(std::move(right)), location);
  if (name == "~" || name == "~*" || name == "!~" || name == "!~*") {
    auto text = coerce(std::move(left), SqlType::Text, Coercion::Implicit);
    auto pattern = coerce(std::move(right), SqlType::Text, Coercion::Implicit);
    const auto wanted = name.ends_with('*') ? SqlText("'(?i)' || ") + pattern.text : pattern.text;
    auto match = SqlText("(", location) + text.text + " REGEXP (" + wanted + "))";
    return {.text = name.starts_with('!') ? SqlText("(NOT ") + match + ")" : match,
            .type = SqlType::Bool,
            .location = location};
  }
  if (name == "~~" || name == "!~~" || name == "~~*" || name == "!~~*") throw NotTranslated();
  return arithmetic(name, std::move(left), std::move(right), location);
}

Value Translator::arithmetic(std::string_view name, Value left, Value right, int location) {
  const auto is_date = [](SqlType type) {
    return is_moment(type) || type == SqlType::Time || type == SqlType::Interval;
  };
  if (is_date(left.type) || is_date(right.type))
    return moment_arithmetic(name, checked(std::move(left)), checked(std::move(right)), location);
  constexpr std::array<std::string_view, 6> kKnown{"+", "-", "*", "/", "%", "^"};
  if (std::find(kKnown.begin(), kKnown.end(), name) == kKnown.end()) throw NotTranslated();
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
  Value out{.type = type, .location = location};
  if (name == "+" || name == "-" || name == "*") {
    out.text = SqlText("(") + left.text + SqlText(" " + std::string(name) + " ", location) + right.text + ")";
    out.may_overflow = type == SqlType::Integer;
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
  else if (divides) out.text = call_of("pg_divide_reals", {left.text, right.text}, location);
  else if (type == SqlType::Numeric) out.text = call_of("pg_modulo_reals", {left.text, right.text}, location);
  else no_operator(name, left.type, right.type, location);
  return out;
}

// date + integer, date - date, timestamp - timestamp, timestamp + interval, ...
Value Translator::moment_arithmetic(std::string_view name, Value left, Value right, int location) {
  using enum SqlType;
  if (name == "+" && (left.type == Integer || left.type == Interval) && right.type != Interval) std::swap(left, right);
  if (left.type == Unknown && is_moment(right.type) && name == "-") left = settle(std::move(left), right.type);
  if (right.type == Unknown && left.type == Date && name == "-") right = settle(std::move(right), Date);
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
  if (left.type == Time || right.type == Time) throw NotTranslated();
  no_operator(name, left.type, right.type, location);
}

Value Translator::concatenation(Value left, Value right, int location) {
  if (left.type == SqlType::Array || right.type == SqlType::Array || left.type == SqlType::Json ||
      right.type == SqlType::Json || left.type == SqlType::Bytea || right.type == SqlType::Bytea)
    throw NotTranslated();
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

// The path of json #> ARRAY['a', '0'].
Value Translator::path(const PgQuery__AArrayExpr& node, const Scope& scope) {
  std::vector<SqlText> steps;
  for (const auto* each : nodes(node.n_elements, node.elements))
    steps.push_back(coerce(expression(*each, scope), SqlType::Text, Coercion::Implicit).text);
  return {.text = SqlText("pg_array(", node.location) + joined(steps) + ")",
          .type = SqlType::Array,
          .location = node.location};
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

void Translator::compare_types(std::string_view name, Value& left, Value& right, int location) {
  using enum SqlType;
  if (left.type == Unknown && right.type == Unknown) {
    left = settle(std::move(left), Text);
    right = settle(std::move(right), Text);
  }
  if (left.type == Unknown) left = settle(std::move(left), right.type);
  if (right.type == Unknown) right = settle(std::move(right), left.type);
  if (left.type == Any || right.type == Any || (is_number(left.type) && is_number(right.type))) return;
  if (left.type == Interval || left.type == Array || left.type == Json) throw NotTranslated();
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
  text = coerce(std::move(text), SqlType::Text, Coercion::Implicit);
  wanted = coerce(std::move(wanted), SqlType::Text, Coercion::Implicit);
  const bool any_case = node.kind == PG_QUERY__A__EXPR__KIND__AEXPR_ILIKE;
  auto match =
      SqlText(any_case ? "pg_ilike(" : "pg_like(", node.location) + text.text + ", " + wanted.text + escape + ")";
  return {.text = name.starts_with('!') ? SqlText("(NOT ") + match + ")" : match,
          .type = SqlType::Bool,
          .location = node.location};
}

Value Translator::in_list(const PgQuery__AExpr& node, const Scope& scope) {
  if (node.rexpr->node_case != PG_QUERY__NODE__NODE_LIST || node.lexpr->node_case == PG_QUERY__NODE__NODE_ROW_EXPR)
    throw NotTranslated();
  std::vector<Value> values{checked(expression(*node.lexpr, scope))};
  for (const auto* each : nodes(node.rexpr->list->n_items, node.rexpr->list->items))
    values.push_back(checked(expression(*each, scope)));
  if (values[0].type == SqlType::Unknown)
    for (std::size_t n = 1; n < values.size() && values[0].type == SqlType::Unknown; ++n)
      if (values[n].type != SqlType::Unknown) values[0] = settle(std::move(values[0]), values[n].type);
  std::vector<SqlText> texts;
  for (std::size_t n = 1; n < values.size(); ++n) {
    auto left = values[0];
    compare_types("=", left, values[n], node.location);
    if (values[0].type == SqlType::Unknown) values[0] = left;
    if (left.text.str() != values[0].text.str()) throw NotTranslated();  // the left side would need a conversion
    texts.push_back(values[n].text);
  }
  const bool negated = name_in_catalog(nodes(node.n_name, node.name)) == "<>";
  return {.text = SqlText("(") + values[0].text + SqlText(negated ? " NOT IN (" : " IN (", node.location) +
                  joined(texts) + "))",
          .type = SqlType::Bool,
          .location = node.location};
}

Value Translator::between(const PgQuery__AExpr& node, const Scope& scope) {
  if (node.rexpr->node_case != PG_QUERY__NODE__NODE_LIST || node.rexpr->list->n_items != 2) throw NotTranslated();
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

Value Translator::any_of(const PgQuery__AExpr& node, const Scope& scope) {
  if (name_in_catalog(nodes(node.n_name, node.name)) != "=") throw NotTranslated();
  auto left = checked(expression(*node.lexpr, scope));
  auto right = expression(*node.rexpr, scope);
  if (right.type != SqlType::Array && right.type != SqlType::Unknown) throw NotTranslated();
  if (right.type == SqlType::Unknown) right = settle(std::move(right), SqlType::Array);
  return {.text = SqlText("(") + left.text + SqlText(" IN (SELECT value FROM json_each(pg_array_json(", node.location) +
                  right.text + "))))",
          .type = SqlType::Bool,
          .location = node.location};
}

}  // namespace eindb::dialect
