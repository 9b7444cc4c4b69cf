#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "common/check.hpp"
#include "common/quote_identifier.hpp"
#include "engine/dialect/translator.hpp"
#include "parser/token_value.hpp"

namespace eindb::dialect {
namespace {

SqlType type_of_letter(char letter) {
  switch (letter) {
    case 'i': return SqlType::Integer;
    case 'm': return SqlType::Numeric;
    case 'f': return SqlType::Float;
    case 't': return SqlType::Text;
    case 'b': return SqlType::Bool;
    case 'd': return SqlType::Date;
    case 's': return SqlType::Timestamp;
    case 'z': return SqlType::TimestampTz;
    case 'v': return SqlType::Interval;
    case 'u': return SqlType::Uuid;
    case 'y': return SqlType::Bytea;
    default: return SqlType::Any;
  }
}

/// Whether a value of the type is one that the letter stands for, without a conversion or with an implicit one.
bool fits(SqlType type, char letter) {
  if (type == SqlType::Unknown || type == SqlType::Any || letter == 'a') return true;
  if (letter == 'n') return is_number(type);
  const auto wanted = type_of_letter(letter);
  if (is_number(type) && is_number(wanted)) return type <= wanted;
  if (is_moment(type) && is_moment(wanted)) return type <= wanted;
  return type == wanted;
}

/// Aggregates of SQLite's, and of JSON, which the table of functions does not have.
bool is_foreign_aggregate(std::string_view name) {
  constexpr std::array<std::string_view, 10> kNames{
      "group_concat", "json_agg",          "json_group_array",   "json_group_object", "json_object_agg",
      "jsonb_agg",    "jsonb_group_array", "jsonb_group_object", "jsonb_object_agg",  "total"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// Types that are called as functions: date(x) is x::date.
bool is_type_function(std::string_view name) {
  constexpr std::array<std::string_view, 16> kNames{"bool",     "bytea",     "date",        "float4",  "float8", "int2",
                                                    "int4",     "int8",      "json",        "numeric", "text",   "time",
                                                    "interval", "timestamp", "timestamptz", "uuid"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// Whether the result is one of the values of the first argument.
bool keeps_value(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames{"min",         "max",        "lag",      "lead",
                                                   "first_value", "last_value", "nth_value"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

char letter_of(const Function& function, std::size_t argument) {
  return function.arguments[std::min(argument, function.arguments.size() - 1)];
}

/// The bits of PostgreSQL's frame options, as its parser sets them.
constexpr std::uint32_t kNotDefault = 0x1;
constexpr std::uint32_t kRange = 0x2;
constexpr std::uint32_t kRows = 0x4;
constexpr std::uint32_t kGroups = 0x8;
constexpr std::uint32_t kStartUnbounded = 0x20;
constexpr std::uint32_t kEndUnbounded = 0x100;
constexpr std::uint32_t kStartCurrent = 0x200;
constexpr std::uint32_t kEndCurrent = 0x400;
constexpr std::uint32_t kStartPreceding = 0x800;
constexpr std::uint32_t kEndPreceding = 0x1000;
constexpr std::uint32_t kStartFollowing = 0x2000;
constexpr std::uint32_t kEndFollowing = 0x4000;
constexpr std::uint32_t kExclude = 0x38000;

}  // namespace

/// The arguments of an aggregate: no other aggregate stands in them, and the SELECT has one.
class Translator::AggregateArguments {
 public:
  AggregateArguments(Translator& translator, const Scope& scope, int location)
      : translator_(translator), scope_(scope), first_use_(translator.uses_.size()) {
    if (translator.in_aggregate_) translator.refuse("42803", "aggregate function calls cannot be nested", location);
    translator.in_aggregate_ = translator.has_aggregate_ = true;
  }
  ~AggregateArguments() {
    translator_.in_aggregate_ = false;
    translator_.forget_aggregated(scope_, first_use_);
  }
  AggregateArguments(const AggregateArguments&) = delete;
  AggregateArguments& operator=(const AggregateArguments&) = delete;

 private:
  Translator& translator_;
  const Scope& scope_;
  const std::size_t first_use_;
};

// The signature that needs the fewest conversions; constants and parameters without a type fit any.
const Function* Translator::choose(std::string_view name, std::vector<Value>& arguments) const {
  const Function* best = nullptr;
  std::size_t most = 0;
  for (const auto& function : functions_named(name)) {
    const auto count = function.arguments.size();
    if (arguments.size() != count && (!function.repeats || arguments.size() < count)) continue;
    std::size_t exact = 1;
    bool all = true;
    for (std::size_t n = 0; n < arguments.size(); ++n) {
      const auto letter = letter_of(function, n);
      all = all && fits(arguments[n].type, letter);
      exact += arguments[n].type == type_of_letter(letter) ? 2 : 0;
      exact += arguments[n].type == SqlType::Unknown && letter == 't' ? 1 : 0;
    }
    if (all && exact > most) {
      best = &function;
      most = exact;
    }
  }
  return best;
}

Value Translator::called(const Function& function, std::vector<Value> arguments, int location) {
  std::vector<SqlText> texts;
  for (std::size_t n = 0; n < arguments.size(); ++n) {
    const auto letter = letter_of(function, n);
    auto& value = arguments[n];
    const auto given = value.type;
    if (function.name == "octet_length") value = with_blanks(std::move(value));
    if (letter == 'n' && given == SqlType::Any) value.text = SqlText("pg_numeric(", location) + value.text + ")";
    else if (letter == 'n')
      value = coerce(std::move(value), given == SqlType::Unknown ? SqlType::Float : given, Coercion::Implicit);
    else if (letter == 'a' && (function.name.starts_with("concat") || function.name == "format"))
      value = output_text(std::move(value));
    else if (letter == 'a')
      value = given == SqlType::Unknown ? settle(std::move(value), SqlType::Text) : checked(std::move(value));
    else value = coerce(std::move(value), type_of_letter(letter), Coercion::Implicit);
    texts.push_back(value.text);
  }
  auto type = type_of_letter(function.result);
  std::string declared;
  if (function.result == '0') type = arguments.at(0).type;
  if (function.result == '0' && keeps_value(function.name)) declared = arguments.at(0).declared;
  if (function.result == 'r') type = arguments.at(0).type == SqlType::Integer ? SqlType::Float : arguments.at(0).type;
  const auto name = function.sqlite.empty() ? function.name : function.sqlite;
  auto text = SqlText(std::string(name) + "(", location) + joined(texts) + ")";
  return {.text = text,
          .type = type,
          .location = location,
          .name = std::string(function.name),
          .declared = std::move(declared)};
}

// json_build_object(name, value, ...): SQLite has no booleans, and takes JSON for text.
Value Translator::json_object(const PgQuery__FuncCall& node, const Scope& scope) {
  if (node.n_args % 2 != 0) refuse("22023", "argument list must have even number of elements", node.location);
  std::vector<SqlText> texts;
  for (const auto* argument : nodes(node.n_args, node.args)) {
    auto value = checked(expression(*argument, scope));
    if (value.type == SqlType::Unknown) value = settle(std::move(value), SqlType::Text);
    const bool is_name = texts.size() % 2 == 0;
    if (is_name) texts.push_back(to_text(std::move(value)).text);
    else if (value.type == SqlType::Bool)
      texts.push_back(SqlText("json(CASE WHEN ") + value.text + " THEN 'true' WHEN NOT " + value.text +
                      " THEN 'false' ELSE 'null' END)");
    else if (value.type == SqlType::Json) texts.push_back(SqlText("json(") + value.text + ")");
    else if (value.type == SqlType::Array || value.type == SqlType::Bytea)
      unsupported("a value of this type in json_build_object", node.location);
    else texts.push_back(value.text);
  }
  return {.text = SqlText("json_object(", node.location) + joined(texts) + ")",
          .type = SqlType::Json,
          .location = node.location,
          .name = "json_build_object"};
}

Value Translator::call(const PgQuery__FuncCall& node, const Scope& scope) {
  const auto name = name_in_catalog(nodes(node.n_funcname, node.funcname));
  if (node.func_variadic) unsupported("VARIADIC", node.location, "write the elements as arguments");
  if (node.agg_within_group) return within_group(name, node, scope);
  if (auto set = set_in_list(name, node, scope)) return *set;
  if (name == "json_build_object" || name == "jsonb_build_object") return json_object(node, scope);
  const bool keeps_order = name == "string_agg" || name == "array_agg";
  if (keeps_order && (node.n_agg_order > 0 || node.agg_distinct)) return ordered_aggregate(name, node, scope);
  const bool is_ordered = name == "json_agg" || name == "jsonb_agg";
  if (is_ordered && node.n_agg_order > 0)
    refuse("0A000", "ORDER BY inside " + name + " is not supported", node.location,
           "order the rows before: " + name + "(...) FROM (SELECT ... ORDER BY ...) AS s");
  const auto known = functions_named(name);
  if (name == "array_agg") return array_aggregate(node, scope);
  if (name == "pg_typeof") return type_name(node, scope);
  if (name == "percentile_cont" || name == "percentile_disc" || name == "mode")
    refuse("42809", "WITHIN GROUP is required for ordered-set aggregate " + name, node.location,
           name + (name == "mode" ? "()" : "(0.5)") + " WITHIN GROUP (ORDER BY x)");
  if (known.empty() && name == "raise" && around_ != nullptr) return raise(node);
  if (known.empty() && is_type_function(name)) return cast_call(name, node, scope);
  if (known.empty()) return foreign_call(name, node, scope);
  const bool is_aggregate = known.front().kind == Function::Kind::Aggregate && node.over == nullptr;
  if (known.front().kind == Function::Kind::Window && node.over == nullptr)
    refuse("42P20", "window function " + name + " requires an OVER clause", node.location);
  if (known.front().kind == Function::Kind::Scalar && (node.over != nullptr || node.agg_distinct || node.agg_star))
    refuse("42809", name + " is not an aggregate or window function", node.location);
  if (is_aggregate && in_aggregate_) refuse("42803", "aggregate function calls cannot be nested", node.location);
  const bool was_in_aggregate = std::exchange(in_aggregate_, in_aggregate_ || is_aggregate);
  const auto first_use = uses_.size();
  std::vector<Value> arguments;
  for (const auto* argument : nodes(node.n_args, node.args)) {
    if (argument->node_case == PG_QUERY__NODE__NODE_NAMED_ARG_EXPR)
      unsupported("an argument with a name", node.location, "write the arguments in their order");
    arguments.push_back(expression(*argument, scope));
  }
  const auto done = [&](Value value) {
    in_aggregate_ = was_in_aggregate;
    if (is_aggregate) forget_aggregated(scope, first_use);
    return value;
  };
  has_aggregate_ = has_aggregate_ || is_aggregate;
  if (node.agg_star) {
    if (name != "count") refuse("42883", "function " + name + "(*) does not exist", node.location);
    static constexpr Function kCount{"count", "a", 'i', "count", Function::Kind::Aggregate};
    Value star{.text = "*", .type = SqlType::Any};
    return done(aggregate(kCount, node, {star}, scope));
  }
  const auto* const function = choose(name, arguments);
  if (function == nullptr) {
    std::string types;
    for (const auto& argument : arguments) types += (types.empty() ? "" : ", ") + std::string(name_of(argument.type));
    const bool has_complex = std::any_of(arguments.begin(), arguments.end(),
                                         [](const Value& argument) { return argument.type == SqlType::Complex; });
    refuse("42883", "function " + name + "(" + types + ") does not exist", node.location,
           hint_for(has_complex ? SqlType::Complex : SqlType::Any,
                    "No function matches the given name and argument types. You might need to add explicit type "
                    "casts."));
  }
  if (function->kind == Function::Kind::Scalar) return done(called(*function, std::move(arguments), node.location));
  return done(aggregate(*function, node, std::move(arguments), scope));
}

// pg_typeof(x), which is known before there is a value.
Value Translator::type_name(const PgQuery__FuncCall& node, const Scope& scope) {
  if (node.n_args != 1) refuse("42883", "function pg_typeof takes one argument", node.location);
  const auto value = expression(*node.args[0], scope);
  auto name = std::string(name_of(value.type));
  if (value.type == SqlType::Array) name = value.declared.substr(0, value.declared.find('('));
  if (value.type == SqlType::Any || name.empty())
    unsupported("pg_typeof of a value whose type is not known before the statement runs", node.location,
                "typeof(x) is how SQLite stores it");
  return {.text = SqlText("'" + name + "'", node.location),
          .type = SqlType::Text,
          .location = node.location,
          .name = "pg_typeof"};
}

Value Translator::cast_call(const std::string& name, const PgQuery__FuncCall& node, const Scope& scope) {
  if (node.n_args != 1 || node.over != nullptr || node.agg_distinct || node.agg_star)
    refuse("42883", "function " + name + " does not exist with " + std::to_string(node.n_args) + " arguments",
           node.location, "strftime() computes with SQLite's dates; date + INTERVAL '1 day' is PostgreSQL's form");
  return cast_to(name, expression(*node.args[0], scope), {}, node.location);
}

// RAISE(IGNORE) and RAISE(ABORT, 'message') of a trigger.
Value Translator::raise(const PgQuery__FuncCall& node) {
  const auto arguments = nodes(node.n_args, node.args);
  const bool has_action = !arguments.empty() && arguments[0]->node_case == PG_QUERY__NODE__NODE_COLUMN_REF;
  if (!has_action || arguments.size() > 2)
    refuse("42601", "RAISE takes IGNORE, or ABORT, FAIL or ROLLBACK and a message", node.location);
  auto text = SqlText("RAISE(", node.location) + text_of(*arguments[0]->column_ref->fields[0]);
  if (arguments.size() == 2) text += SqlText(", ") + expression(*arguments[1], *around_).text;
  return {.text = text + ")", .type = SqlType::Any, .location = node.location, .name = "raise"};
}

Value Translator::foreign_call(const std::string& name, const PgQuery__FuncCall& node, const Scope& scope) {
  uses_catalog_ = true;
  if (node.n_agg_order > 0) unsupported("ORDER BY inside " + name, node.location);
  std::optional<AggregateArguments> inside;
  if (node.over == nullptr && is_foreign_aggregate(name)) inside.emplace(*this, scope, node.location);
  std::vector<SqlText> texts;
  for (const auto* argument : nodes(node.n_args, node.args)) {
    auto value = expression(*argument, scope);
    value = value.type == SqlType::Unknown ? settle(std::move(value), SqlType::Text) : checked(std::move(value));
    texts.push_back(value.text);
  }
  auto text = SqlText(quote_identifier(name) + "(", node.location);
  if (node.agg_distinct) text += "DISTINCT ";
  text += node.agg_star ? SqlText("*") : joined(texts);
  text += ")";
  if (node.agg_filter != nullptr)
    text += SqlText(" FILTER (WHERE ") + condition(*node.agg_filter, scope, "FILTER") + ")";
  if (node.over != nullptr) text += SqlText(" OVER ") + window(*node.over, scope);
  return {.text = text, .type = SqlType::Any, .location = node.location, .name = name};
}

Value Translator::array_aggregate(const PgQuery__FuncCall& node, const Scope& scope) {
  if (node.n_args != 1 || node.over != nullptr) unsupported("array_agg in this form", node.location);
  const AggregateArguments inside(*this, scope, node.location);
  auto value = expression(*node.args[0], scope);
  value = value.type == SqlType::Unknown ? settle(std::move(value), SqlType::Text) : checked(std::move(value));
  const auto declared = array_declared(value.type, value.declared);
  if (value.type != SqlType::Integer && value.type != SqlType::Any) value = to_text(std::move(value));
  auto rows = SqlText("json_group_array(") + (node.agg_distinct ? "DISTINCT " : "") + value.text + ")";
  if (node.agg_filter != nullptr)
    rows += SqlText(" FILTER (WHERE ") + condition(*node.agg_filter, scope, "FILTER") + ")";
  return {.text = SqlText("pg_array_of_json(nullif(", node.location) + rows + ", '[]'))",
          .type = SqlType::Array,
          .location = node.location,
          .name = "array_agg",
          .declared = declared};
}

Value Translator::aggregate(const Function& function, const PgQuery__FuncCall& node, std::vector<Value> arguments,
                            const Scope& scope) {
  // The order of rows changes nothing for the aggregates that are known, so it may be left out.
  const bool may_overflow = (function.name == "sum" || function.name == "avg") &&
                            arguments[0].type != SqlType::Integer &&
                            (is_number(arguments[0].type) || arguments[0].type == SqlType::Any);
  const std::string total = may_overflow && arguments[0].type == SqlType::Numeric ? "pg_total_numeric(" : "pg_total(";
  auto value = called(function, std::move(arguments), node.location);
  const auto open = std::string(function.sqlite.empty() ? function.name : function.sqlite) + "(";
  CHECK(value.text.str().starts_with(open), "a call begins with the function");
  const auto inside = (node.agg_distinct ? "DISTINCT " : "") + value.text.str().substr(open.size());
  if (node.agg_distinct) value.text = SqlText(open + inside, node.location);
  value = finished_aggregate(std::move(value), node, scope);
  if (!may_overflow) return value;
  const auto count = finished_aggregate({.text = SqlText("count(" + inside, node.location)}, node, scope);
  value.text = SqlText(total, node.location) + value.text + ", " + count.text + ")";
  return value;
}

/// percentile_cont(p) WITHIN GROUP (ORDER BY x DESC)  ->  percentile_cont(x, p, 1)
Value Translator::within_group(const std::string& name, const PgQuery__FuncCall& node, const Scope& scope) {
  const bool continuous = name == "percentile_cont";
  const bool is_mode = name == "mode";
  if (!continuous && !is_mode && name != "percentile_disc")
    refuse("42883", "function " + name + " with WITHIN GROUP does not exist", node.location,
           "percentile_cont, percentile_disc and mode have it");
  if (node.n_agg_order != 1 || node.n_args != (is_mode ? 0U : 1U))
    refuse("42883", "function " + name + " does not exist with such arguments", node.location,
           is_mode ? "mode() WITHIN GROUP (ORDER BY x)" : name + "(0.5) WITHIN GROUP (ORDER BY x)");
  if (node.over != nullptr) refuse("0A000", "OVER is not supported for ordered-set aggregate " + name, node.location);
  const AggregateArguments inside(*this, scope, node.location);
  const auto order = directions_of(nodes(node.n_agg_order, node.agg_order));
  auto value = sort_key(*node.agg_order[0]->sort_by->node, scope);
  if (continuous && !is_number(value.type) && value.type != SqlType::Any && value.type != SqlType::Unknown)
    refuse(value.type == SqlType::Interval ? "0A000" : "42883",
           "function percentile_cont(double precision, " + std::string(name_of(value.type)) + ") does not exist",
           node.location, "percentile_disc takes a value of any type out of the rows");
  if (continuous) value = coerce(std::move(value), SqlType::Float, Coercion::Implicit);
  auto text = SqlText(name + "(", node.location) + value.text;
  if (!is_mode) {
    auto fraction = expression(*node.args[0], scope);
    if (fraction.type == SqlType::Array)
      refuse("0A000", name + " of several fractions at once is not supported", node.location,
             "call it once for each fraction");
    text += SqlText(", ") + coerce(std::move(fraction), SqlType::Float, Coercion::Implicit).text;
  }
  const bool descends = order == "d" || order == "D";
  text += is_mode ? (descends ? ", 1)" : ")") : (descends ? ", 1)" : ", 0)");
  Value out{.text = text, .type = value.type, .location = node.location, .name = name};
  return finished_aggregate(std::move(out), node, scope);
}

/// string_agg(x, ',' ORDER BY y DESC)  ->  ordered_text('D', x, ',', y)
Value Translator::ordered_aggregate(const std::string& name, const PgQuery__FuncCall& node, const Scope& scope) {
  const bool of_texts = name == "string_agg";
  if (node.n_args != (of_texts ? 2U : 1U))
    refuse("42883", "function " + name + " does not exist with such arguments", node.location);
  if (node.over != nullptr)
    refuse("0A000", "aggregate ORDER BY is not implemented for window functions", node.location);
  const AggregateArguments inside(*this, scope, node.location);
  std::vector<SqlText> texts;
  std::string first;
  std::string declared;
  for (const auto* argument : nodes(node.n_args, node.args)) {
    auto value = checked(expression(*argument, scope));
    if (first.empty()) first = value.text.str();
    if (value.type == SqlType::Bytea) unsupported(name + " of bytea", node.location, "encode(x, 'hex') is a text");
    if (!of_texts) declared = array_declared(value.type, value.declared);
    if (of_texts) value = coerce(std::move(value), SqlType::Text, Coercion::Implicit);
    else if (value.type == SqlType::Unknown) value = settle(std::move(value), SqlType::Text);
    else if (value.type == SqlType::Bool) value = output_text(std::move(value));
    texts.push_back(value.text);
  }
  const auto order = nodes(node.n_agg_order, node.agg_order);
  texts.insert(texts.begin(), SqlText("'" + std::string(node.agg_distinct ? "u" : "") + directions_of(order) + "'"));
  for (const auto* each : order) {
    texts.push_back(sort_key(*each->sort_by->node, scope).text);
    if (node.agg_distinct && texts.back().str() != first)
      refuse("42P10", "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list",
             each->sort_by->location);
  }
  auto text = SqlText(of_texts ? "ordered_text(" : "ordered_json(", node.location) + joined(texts) + ")";
  Value out{.text = text, .type = SqlType::Text, .location = node.location, .name = name};
  out = finished_aggregate(std::move(out), node, scope);
  if (of_texts) return out;
  out.text = SqlText("pg_array_of_json(nullif(", node.location) + out.text + ", '[]'))";
  out.type = SqlType::Array;
  out.declared = declared;
  return out;
}

/// A letter for each key, as the ordered aggregates take them.
std::string Translator::directions_of(std::span<PgNode* const> keys) const {
  std::string letters;
  for (const auto* each : keys) {
    CHECK(each->node_case == PG_QUERY__NODE__NODE_SORT_BY, "ORDER BY has keys");
    const auto direction = direction_of(*each->sort_by);
    letters += direction.descends ? (direction.nulls_first ? 'D' : 'd') : direction.nulls_first ? 'A' : 'a';
  }
  return letters;
}

/// A value that rows of an aggregate are sorted by.
Value Translator::sort_key(const PgNode& node, const Scope& scope) {
  auto value = checked(expression(node, scope));
  if (value.type == SqlType::Interval) value.text = SqlText("pg_interval_span(") + value.text + ")";
  if (value.type == SqlType::Array || value.type == SqlType::Json || value.type == SqlType::Bytea ||
      value.type == SqlType::Complex)
    refuse("0A000", "ORDER BY of type " + std::string(name_of(value.type)) + " inside an aggregate is not supported",
           value.location, hint_for(value.type));
  return value.type == SqlType::Unknown ? settle(std::move(value), SqlType::Text) : value;
}

/// FILTER and OVER behind the call of an aggregate.
Value Translator::finished_aggregate(Value value, const PgQuery__FuncCall& node, const Scope& scope) {
  if (node.agg_filter != nullptr)
    value.text += SqlText(" FILTER (WHERE ") + condition(*node.agg_filter, scope, "FILTER") + ")";
  if (node.over != nullptr) value.text += SqlText(" OVER ") + window(*node.over, scope);
  if (value.type == SqlType::Bool) value.text = SqlText("(") + value.text + " <> 0)";
  return value;
}

SqlText Translator::window(const PgQuery__WindowDef& node, const Scope& scope) {
  const auto options = static_cast<std::uint32_t>(node.frame_options);
  if (node.name != nullptr && node.name[0] != '\0' && node.n_partition_clause == 0 && node.n_order_clause == 0 &&
      (options & kNotDefault) == 0)
    return quote_identifier(node.name);
  SqlText out = "(";
  if (node.refname != nullptr && node.refname[0] != '\0') out += SqlText(quote_identifier(node.refname) + " ");
  std::vector<SqlText> keys;
  for (const auto* key : nodes(node.n_partition_clause, node.partition_clause))
    keys.push_back(checked(expression(*key, scope)).text);
  if (!keys.empty()) out += SqlText("PARTITION BY ") + joined(keys) + " ";
  if (node.n_order_clause > 0)
    out += SqlText("ORDER BY ") + sorting(nodes(node.n_order_clause, node.order_clause), scope, nullptr, false) + " ";
  if ((options & kNotDefault) != 0) {
    if ((options & kExclude) != 0) unsupported("EXCLUDE in a window", node.location);
    const auto bound = [&](bool start) -> SqlText {
      if ((options & (start ? kStartUnbounded : kEndUnbounded)) != 0)
        return start ? "UNBOUNDED PRECEDING" : "UNBOUNDED FOLLOWING";
      if ((options & (start ? kStartCurrent : kEndCurrent)) != 0) return "CURRENT ROW";
      const auto* const offset = start ? node.start_offset : node.end_offset;
      const auto preceding = start ? kStartPreceding : kEndPreceding;
      const auto following = start ? kStartFollowing : kEndFollowing;
      CHECK(offset != nullptr && (options & (preceding | following)) != 0, "a bound of a frame has a distance");
      auto distance = expression(*offset, scope);
      if (distance.type == SqlType::Unknown) distance = settle(std::move(distance), SqlType::Integer);
      if (distance.type != SqlType::Integer)
        unsupported("a window whose distance is no integer", node.location, "give the distance in rows: ROWS BETWEEN");
      return distance.text + ((options & preceding) != 0 ? " PRECEDING" : " FOLLOWING");
    };
    out += (options & kRows) != 0 ? "ROWS BETWEEN " : (options & kGroups) != 0 ? "GROUPS BETWEEN " : "RANGE BETWEEN ";
    out += bound(true) + " AND " + bound(false);
  }
  return out + ")";
}

}  // namespace eindb::dialect
