// Arrays, and functions that give rows.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "common/check.hpp"
#include "common/letter_case.hpp"
#include "common/quote_identifier.hpp"
#include "engine/dialect/translator.hpp"
#include "parser/bracket_indices.hpp"
#include "parser/token_value.hpp"
#include "parser/tokenizer.hpp"

namespace eindb::dialect {
namespace {

bool is_set_function(std::string_view name) {
  return name == "generate_series" || name == "unnest" || name == "_pg_expandarray" ||
         name == "pg_partition_ancestors" || name == "string_to_table" || name == "generate_subscripts";
}

/// The name of the function that is called; empty for another expression.
std::string called_name(const PgNode& node) {
  if (node.node_case != PG_QUERY__NODE__NODE_FUNC_CALL) return {};
  return name_in_catalog(nodes(node.func_call->n_funcname, node.func_call->funcname));
}

}  // namespace

SqlType element_of(const std::string& declared) {
  constexpr std::string_view kArray = "[]";
  if (declared == "int2vector") return SqlType::Integer;
  if (!declared.ends_with(kArray)) return SqlType::Any;
  return type_of_declared(std::string_view(declared).substr(0, declared.size() - kArray.size()));
}

SqlText elements_of(const Value& array) {
  const auto element = element_of(array.declared);
  const auto type = element == SqlType::Any ? std::string() : ", '" + std::string(name_of(element)) + "'";
  return SqlText("pg_array_json(", array.location) + array.text + type + ")";
}

std::string array_declared(SqlType element, const std::string& declared) {
  if (!declared.empty()) return declared.ends_with("[]") ? declared : declared + "[]";
  if (element == SqlType::Any || element == SqlType::Unknown || element == SqlType::Array ||
      element == SqlType::Complex)
    return {};
  return std::string(name_of(element)) + "[]";
}

Value Translator::array(const PgQuery__AArrayExpr& node, const Scope& scope) {
  std::vector<Value> values;
  for (const auto* each : nodes(node.n_elements, node.elements)) {
    if (each->node_case == PG_QUERY__NODE__NODE_A_ARRAY_EXPR)
      unsupported("an array of several dimensions", node.location, "keep such values in a tensor: CREATE TENSOR");
    values.push_back(expression(*each, scope));
  }
  const auto type = values.empty() ? SqlType::Text : unify(values, "ARRAY");
  std::vector<SqlText> texts;
  for (const auto& value : values) {
    // Elements are kept as texts, in the form of their type.
    const bool plain = value.type == SqlType::Integer || value.type == SqlType::Any;
    texts.push_back(plain ? value.text : output_text(value).text);
  }
  return {.text = SqlText("pg_array(", node.location) + joined(texts) + ")",
          .type = SqlType::Array,
          .location = node.location,
          .name = "array",
          .declared = array_declared(type)};
}

// x[1], (f(x)).n
Value Translator::element(const PgQuery__AIndirection& node, const Scope& scope) {
  const auto steps = nodes(node.n_indirection, node.indirection);
  CHECK(!steps.empty(), "an indirection has a subscript or a field");
  const auto& arg = *node.arg;
  if (steps[0]->node_case == PG_QUERY__NODE__NODE_STRING) {
    const auto field = text_of(*steps[0]);
    // A row of _pg_expandarray is represented by its x, the element; n is its place.
    if (steps.size() == 1 && field == "x") return expression(arg, scope);
    if (steps.size() == 1 && field == "n" && called_name(arg) == "_pg_expandarray") {
      auto value = expression(arg, scope);
      const std::string of_elements = "\".\"value\"";
      auto text = value.text.str();
      CHECK(text.ends_with(of_elements), "a set in the list is the elements of an array");
      text.resize(text.size() - of_elements.size());
      return {.text = SqlText("(" + text + "\".\"key\" + 1)", value.location),
              .type = SqlType::Integer,
              .location = value.location,
              .name = "n"};
    }
    unsupported("the field \"" + field + "\" of a row", -1, "name the columns in a FROM clause");
  }
  auto value = expression(arg, scope);
  for (const auto* step : steps) {
    if (step->node_case != PG_QUERY__NODE__NODE_A_INDICES || step->a_indices->is_slice)
      unsupported("a slice of an array", value.location);
    const auto of = value.type;
    if (of != SqlType::Array && of != SqlType::Any && of != SqlType::Text && of != SqlType::Unknown)
      refuse("42804", "cannot subscript type " + std::string(name_of(of)) + " because it does not support subscripting",
             value.location);
    const auto index = coerce(expression(*step->a_indices->uidx, scope), SqlType::Integer, Coercion::Implicit);
    value.type = element_of(value.declared);
    value.text = SqlText("pg_array_get(", value.location) + value.text + ", " + index.text + ")";
    if (value.type == SqlType::Text) value.text = SqlText("CAST(") + value.text + " AS TEXT)";
    if (value.type == SqlType::Bool) value.text = SqlText("pg_bool(") + value.text + ")";
    if (is_number(value.type) && value.type != SqlType::Integer)
      value.text = SqlText("CAST(") + value.text + " AS REAL)";
    value.declared.clear();
    value.literal.reset();
  }
  return value;
}

Value Translator::joined_arrays(Value left, Value right, int location) {
  if (left.type == SqlType::Json || right.type == SqlType::Json)
    unsupported("|| of json", location, "use json_patch(a, b)");
  if (left.type == SqlType::Bytea || right.type == SqlType::Bytea) {
    left = coerce(std::move(left), SqlType::Bytea, Coercion::Implicit);
    right = coerce(std::move(right), SqlType::Bytea, Coercion::Implicit);
    return {.text = SqlText("CAST(", location) + left.text + " || " + right.text + " AS BLOB)",
            .type = SqlType::Bytea,
            .location = location};
  }
  const auto element = [](const Value& value) {
    return value.type == SqlType::Array ? element_of(value.declared) : value.type;
  };
  const auto a = element(left);
  const auto b = element(right);
  const bool is_open = a == SqlType::Any || b == SqlType::Any || a == SqlType::Unknown || b == SqlType::Unknown;
  const bool both_numbers = is_number(a) && is_number(b);
  if (!is_open && a != b && !both_numbers && !(is_moment(a) && is_moment(b)))
    no_operator("||", left.type, right.type, location);
  const auto declared = both_numbers && !is_open      ? array_declared(std::max(a, b))
                        : left.type == SqlType::Array ? left.declared
                                                      : right.declared;
  const auto as_array = [&](Value value) {
    if (value.type == SqlType::Unknown) return settle(std::move(value), SqlType::Array).text;
    if (value.type == SqlType::Array || value.type == SqlType::Any) return value.text;
    return SqlText("pg_array(") + (value.type == SqlType::Integer ? checked(value) : to_text(value)).text + ")";
  };
  return {
      .text = SqlText("pg_array_cat(", location) + as_array(std::move(left)) + ", " + as_array(std::move(right)) + ")",
      .type = SqlType::Array,
      .location = location,
      .declared = declared};
}

std::optional<Translator::Elements> Translator::elements(const std::string& name, const PgQuery__FuncCall& node,
                                                         const Scope& scope) {
  if (!is_set_function(name)) return std::nullopt;
  std::vector<Value> arguments;
  for (const auto* each : nodes(node.n_args, node.args)) arguments.push_back(expression(*each, scope));
  const auto expect = [&](std::size_t least, std::size_t most) {
    if (arguments.size() < least || arguments.size() > most)
      refuse("42883", "function " + name + " does not exist with " + std::to_string(arguments.size()) + " arguments",
             node.location);
  };
  if (name == "generate_series") {
    expect(2, 3);
    std::vector<SqlText> texts;
    const bool of_moments = is_moment(arguments[0].type) || is_moment(arguments[1].type);
    if (of_moments) {
      expect(3, 3);
      const auto type = arguments[0].type == SqlType::TimestampTz || arguments[1].type == SqlType::TimestampTz ||
                                arguments[0].type == SqlType::Date
                            ? SqlType::TimestampTz
                            : SqlType::Timestamp;
      for (std::size_t n = 0; n < 2; ++n)
        texts.push_back(coerce(std::move(arguments[n]), type, Coercion::Implicit).text);
      texts.push_back(coerce(std::move(arguments[2]), SqlType::Interval, Coercion::Implicit).text);
      return Elements{.json = SqlText("pg_moment_series(", node.location) + joined(texts) + ")", .type = type};
    }
    for (auto& each : arguments) {
      if (each.type == SqlType::Numeric || each.type == SqlType::Float)
        unsupported("generate_series of numbers with a fraction", node.location,
                    "multiply: SELECT n * 0.5 FROM generate_series(0, 10) AS s(n)");
      texts.push_back(coerce(std::move(each), SqlType::Integer, Coercion::Implicit).text);
    }
    return Elements{.json = SqlText("pg_series(", node.location) + joined(texts) + ")", .type = SqlType::Integer};
  }
  if (name == "generate_subscripts") {
    expect(2, 2);
    const auto of =
        arguments[0].type == SqlType::Unknown ? settle(std::move(arguments[0]), SqlType::Array) : arguments[0];
    return Elements{
        .json = SqlText("pg_series(array_lower(", node.location) + of.text + ", 1), array_upper(" + of.text + ", 1))",
        .type = SqlType::Integer};
  }
  if (name == "string_to_table") {
    expect(2, 2);
    std::vector<SqlText> texts;
    for (auto& each : arguments) texts.push_back(coerce(std::move(each), SqlType::Text, Coercion::Implicit).text);
    return Elements{.json = SqlText("pg_array_json(string_to_array(", node.location) + joined(texts) + "))",
                    .type = SqlType::Text};
  }
  expect(1, 1);
  auto& of = arguments[0];
  if (of.type == SqlType::Unknown)
    of = settle(std::move(of), name == "pg_partition_ancestors" ? SqlType::Text : SqlType::Array);
  if (name == "unnest" && of.type != SqlType::Array && of.type != SqlType::Any && of.type != SqlType::Text)
    refuse("42883", "function unnest(" + std::string(name_of(of.type)) + ") does not exist", node.location,
           "unnest takes an array");
  if (name == "pg_partition_ancestors") {
    uses_catalog_ = true;
    of.text = SqlText("pg_partition_ancestors(", node.location) + of.text + ")";
    of.declared.clear();
  }
  return Elements{.json = elements_of(of), .type = element_of(of.declared)};
}

std::optional<Value> Translator::set_in_list(const std::string& name, const PgQuery__FuncCall& node,
                                             const Scope& scope) {
  if (!is_set_function(name)) return std::nullopt;
  if (sets_ == nullptr)
    refuse("0A000", "set-returning functions are not allowed here", node.location,
           "call " + name + " in FROM, or alone in the list of a SELECT");
  auto found = elements(name, node, scope);
  CHECK(found.has_value(), "a function that gives rows has elements");
  SqlText value("\"pg_set\".\"value\"", node.location);
  if (name == "generate_subscripts") {  // the places of the elements that unnest of the same array gives
    const auto array = expression(*node.args[0], scope);
    found->json = elements_of(array);
    value = SqlText("(\"pg_set\".\"key\" + array_lower(", node.location) + array.text + ", 1))";
  }
  const auto written = found->json.str();
  auto place = std::find_if(sets_->begin(), sets_->end(), [&](const SqlText& set) { return set.str() == written; });
  if (place == sets_->end()) {
    if (!sets_->empty())
      unsupported("more than one set-returning function in a list", node.location, "call them in FROM");
    place = sets_->insert(sets_->end(), found->json);
  }
  return Value{.text = std::move(value), .type = found->type, .location = node.location, .name = name};
}

SqlText Translator::table_function(const PgQuery__RangeFunction& node, Scope& scope) {
  if (node.is_rowsfrom || node.n_functions != 1)
    unsupported("ROWS FROM", -1, "join the functions: f(x) AS a JOIN g(x) AS b ON ...");
  const auto& list = *node.functions[0];
  if (list.node_case != PG_QUERY__NODE__NODE_LIST || list.list->n_items < 1 ||
      list.list->items[0]->node_case != PG_QUERY__NODE__NODE_FUNC_CALL)
    unsupported("this in a FROM clause", -1);
  const auto& call = *list.list->items[0]->func_call;
  const auto name = name_in_catalog(nodes(call.n_funcname, call.funcname));
  const std::string alias = node.alias != nullptr ? node.alias->aliasname : name;
  std::vector<std::string> names;
  if (node.alias != nullptr)
    for (const auto* each : nodes(node.alias->n_colnames, node.alias->colnames)) names.push_back(text_of(*each));
  const auto found = elements(name, call, scope);
  if (name == "string_to_array") {  // one row
    auto value = expression(*list.list->items[0], scope);
    const auto column = names.empty() ? alias : names[0];
    auto text = SqlText("(SELECT ", call.location) + value.text + " AS " + quote_identifier(column) + ") AS " +
                quote_identifier(alias);
    scope.add({.name = alias, .columns = {{.name = column, .type = value.type, .declared = value.declared}}});
    return text;
  }
  if (name == "pg_options_to_table") {  // of foreign tables and servers, which there are none of
    scope.add(
        {.name = alias,
         .columns = {{.name = "option_name", .type = SqlType::Text}, {.name = "option_value", .type = SqlType::Text}}});
    return SqlText("(SELECT '' AS option_name, '' AS option_value WHERE FALSE) AS " + quote_identifier(alias),
                   call.location);
  }
  if (!found) {
    // Functions of SQLite that give rows, such as json_each, and those of the catalog.
    if (node.n_coldeflist > 0 || node.ordinality || !names.empty())
      unsupported("the function " + name + " with these names of columns", call.location);
    uses_catalog_ = true;
    std::vector<SqlText> arguments;
    for (const auto* each : nodes(call.n_args, call.args)) {
      auto value = expression(*each, scope);
      arguments.push_back(
          (value.type == SqlType::Unknown ? settle(std::move(value), SqlType::Text) : checked(std::move(value))).text);
    }
    scope.add({.name = alias, .columns = {}, .known = false, .is_function = true});
    // Tables of the catalog that PostgreSQL has as functions.
    if (name == "pg_get_keywords") return SqlText("pg_keywords AS " + quote_identifier(alias), call.location);
    if (name == "pg_show_all_settings") return SqlText("pg_settings AS " + quote_identifier(alias), call.location);
    return SqlText(quote_identifier(name) + "(", call.location) + joined(arguments) + ") AS " + quote_identifier(alias);
  }
  if (names.size() > (node.ordinality ? 2U : 1U))
    refuse("42P10", "table \"" + alias + "\" has fewer columns available than specified", call.location);
  std::vector<Column> columns;
  columns.push_back({.name = !names.empty()              ? names[0]
                             : name == "_pg_expandarray" ? std::string("x")
                                                         : alias,
                     .type = found->type,
                     .declared = found->declared,
                     .sql = quote_identifier(alias) + ".\"value\""});
  if (node.ordinality || name == "_pg_expandarray")
    columns.push_back({.name = names.size() > 1            ? names[1]
                               : name == "_pg_expandarray" ? std::string("n")
                                                           : std::string("ordinality"),
                       .type = SqlType::Integer,
                       .sql = "(" + quote_identifier(alias) + ".\"key\" + 1)"});
  scope.add({.name = alias, .columns = std::move(columns)});
  return SqlText("json_each(") + found->json + ") AS " + quote_identifier(alias);
}

std::size_t end_of_group(std::string_view statement, std::size_t begin) {
  Tokenizer tokenizer(statement, begin, kPostgresRules);
  std::size_t depth = 0;
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End) && !token.is(Token::Kind::Unterminated);
       token = tokenizer.next()) {
    if (token.is_symbol('(') || token.is_symbol('[')) ++depth;
    if ((token.is_symbol(')') || token.is_symbol(']')) && --depth == 0) return token.span.end;
  }
  return begin;
}

// Short names have room in the shortest queries.
std::string einsum_name(std::size_t begin) {
  constexpr int kBase = 36;
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), begin, kBase).ptr;
  return "\x01q" + std::string(digits.data(), end);
}

std::optional<std::size_t> place_of_einsum(std::string_view name) {
  constexpr int kBase = 36;
  if (!name.starts_with("\x01q")) return std::nullopt;
  name.remove_prefix(2);
  std::size_t place = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), place, kBase);
  return error == std::errc() && end == name.data() + name.size() ? std::optional(place) : std::nullopt;
}

// (EINSUM Z[i] = ...) stays as it is; without an alias its rows are those of Z.
SqlText Translator::einsum(const PgQuery__RangeVar& node, Scope& scope) {
  const auto place = place_of_einsum(node.relname);
  CHECK(place.has_value(), "the name of a query of eindb tells its place");
  const auto begin = *place;
  if (statement_[begin] != '(') return tensor_part(begin, node, scope);
  const auto end = end_of_group(statement_, begin);
  CHECK(begin < end && end <= statement_.size(), "a query of eindb stands where its name does");
  SqlText text;
  Tokenizer tokenizer(statement_.substr(0, end), begin, kPostgresRules);
  std::size_t copied = begin;
  std::string name;
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End); token = tokenizer.next()) {
    text += SqlText(statement_.substr(copied, token.span.begin - copied));
    text += SqlText(token.text, static_cast<int>(token.span.begin));
    copied = token.span.end;
    if (name.empty() && token.is_name() && !token.is_word("EINSUM"))
      name = token.is(Token::Kind::QuotedName) ? unquote(token) : std::string(token.text);
  }
  auto columns = columns_of(std::string(kEinsumSchema), std::string(statement_.substr(begin + 1, end - begin - 2)));
  Source out{.name = name, .columns = {}, .known = columns.has_value()};
  if (columns) out.columns = std::move(*columns);
  return with_alias(node, std::move(text), std::move(out), scope);
}

// A query of eindb, or a part of a tensor, under the alias that the statement gives it.
SqlText Translator::with_alias(const PgQuery__RangeVar& node, SqlText text, Source source, Scope& scope) const {
  if (node.alias != nullptr) {
    if (node.alias->n_colnames > 0)
      unsupported("a list of names for the columns of EINSUM", node.location, "name its labels: EINSUM Z[a,b] = ...");
    source.name = node.alias->aliasname;
    text += SqlText(" AS " + quote_identifier(source.name));
  }
  scope.add(std::move(source));
  return text;
}

// X[0:10,:] stays as it is; it has the columns of the tensor that no number holds.
SqlText Translator::tensor_part(std::size_t begin, const PgQuery__RangeVar& node, Scope& scope) {
  const auto name = Tokenizer(statement_, begin, kPostgresRules).next();
  const auto end = end_of_group(statement_, name.span.end);
  CHECK(name.is_name() && begin < end && end <= statement_.size(), "a part of a tensor stands where its name does");
  SqlText text(statement_.substr(begin, end - begin), static_cast<int>(begin));
  const auto tensor = name.is(Token::Kind::QuotedName) ? unquote(name) : std::string(name.text);
  auto columns = columns_of("", tensor);
  Source out{.name = tensor, .columns = {}, .known = columns.has_value()};
  const auto indices = bracket_indices(statement_.substr(name.span.end, end - name.span.end));
  for (std::size_t n = 0; columns && n < columns->size(); ++n) {
    auto column = (*columns)[n];
    if (n < indices.size()) {
      const auto kind = kind_of_index(indices[n]);
      if (kind == BracketIndex::Held) continue;
      if (kind == BracketIndex::Label) column.name = indices[n];
    }
    out.columns.push_back(std::move(column));
  }
  return with_alias(node, std::move(text), std::move(out), scope);
}

// LATERAL (SELECT a + b AS c) AS x: the expressions stand where its columns are used.
SqlText Translator::lateral(const PgQuery__RangeSubselect& node, Scope& scope) {
  CHECK(node.alias != nullptr && node.subquery->node_case == PG_QUERY__NODE__NODE_SELECT_STMT, "looked at before");
  const auto& select = *node.subquery->select_stmt;
  const bool plain = select.n_from_clause == 0 && select.where_clause == nullptr && select.n_group_clause == 0 &&
                     select.n_values_lists == 0 && select.n_sort_clause == 0 && select.limit_count == nullptr &&
                     select.with_clause == nullptr && select.n_distinct_clause == 0 &&
                     select.op == PG_QUERY__SET_OPERATION__SETOP_NONE;
  if (!plain)
    unsupported("LATERAL with a FROM clause inside", -1,
                "join the tables, or write a subquery in the list of the SELECT");
  const std::string alias = node.alias->aliasname;
  const auto names = nodes(node.alias->n_colnames, node.alias->colnames);
  std::vector<Column> columns;
  for (std::size_t n = 0; n < select.n_target_list; ++n) {
    const auto& target = *select.target_list[n]->res_target;
    auto value = checked(expression(*target.val, scope));
    if (value.type == SqlType::Unknown) value = settle(std::move(value), SqlType::Text);
    const auto name = n < names.size() ? text_of(*names[n]) : is_set(target.name) ? target.name : value.name;
    columns.push_back({.name = name, .type = value.type, .declared = value.declared, .sql = value.text.str()});
  }
  scope.add({.name = alias, .columns = std::move(columns)});
  return SqlText("(SELECT 1) AS " + quote_identifier(alias));
}

}  // namespace eindb::dialect
