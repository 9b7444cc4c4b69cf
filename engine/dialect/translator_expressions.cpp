#include <charconv>

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "common/quote_identifier.hpp"
#include "engine/dialect/translator.hpp"
#include "parser/token_value.hpp"
#include "parser/tokenizer.hpp"

namespace eindb::dialect {
namespace {

constexpr int kDeepestExpression = 1000;

class Nesting {
 public:
  explicit Nesting(int& depth) : depth_(depth) {
    if (++depth_ <= kDeepestExpression) return;
    --depth_;
    throw CodedError("54001", ErrorKind::Unsupported, "stack depth limit exceeded: an expression is nested too deeply",
                     "divide the statement into several");
  }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  int& depth_;
};

}  // namespace

std::string text_of(const PgNode& node) {
  if (node.node_case != PG_QUERY__NODE__NODE_STRING)
    throw CodedError("0A000", ErrorKind::Unsupported, "a name of this form is not supported");
  return node.string->sval;
}

std::string name_in_catalog(std::span<PgNode* const> names) {
  if (names.empty() || names.size() > 2)
    throw CodedError("42601", ErrorKind::Syntax, "improper qualified name (too many dotted names)");
  const auto schema = names.size() == 2 ? text_of(*names[0]) : std::string("pg_catalog");
  if (schema != "pg_catalog" && schema != "public" && schema != "information_schema")
    throw CodedError("3F000", ErrorKind::UnknownName, "schema \"" + schema + "\" does not exist");
  return text_of(*names.back());
}

SourceSpan Translator::place(int location) const {
  const auto begin = static_cast<std::size_t>(std::max(location, 0));
  if (location < 0 || begin >= statement_.size()) return {0, statement_.size()};
  const auto token = Tokenizer(statement_, begin, kPostgresRules).next();
  return token.span;
}

void Translator::refuse(std::string_view sqlstate, std::string message, int location, std::string hint) const {
  throw CodedError(sqlstate, ErrorKind::Type, std::move(message), std::move(hint), place(location));
}

std::optional<std::vector<Column>> Translator::columns_of(const std::string& schema, const std::string& table) {
  return find_columns_(schema, table);
}

Value Translator::expression(const PgNode& node, const Scope& scope) {
  const Nesting nesting(depth_);
  const auto first_use = uses_.size();
  auto value = expression_of_kind(node, scope);
  forget_keys(node, scope, first_use);
  return value;
}

Value Translator::expression_of_kind(const PgNode& node, const Scope& scope) {
  switch (node.node_case) {
    case PG_QUERY__NODE__NODE_A_CONST: return constant(*node.a_const);
    case PG_QUERY__NODE__NODE_COLUMN_REF: return column(*node.column_ref, scope);
    case PG_QUERY__NODE__NODE_PARAM_REF: return parameter(*node.param_ref);
    case PG_QUERY__NODE__NODE_A_EXPR: return operation(*node.a_expr, scope);
    case PG_QUERY__NODE__NODE_FUNC_CALL: return call(*node.func_call, scope);
    case PG_QUERY__NODE__NODE_TYPE_CAST: return cast(*node.type_cast, scope);
    case PG_QUERY__NODE__NODE_BOOL_EXPR: return logic(*node.bool_expr, scope);
    case PG_QUERY__NODE__NODE_NULL_TEST: return null_test(*node.null_test, scope);
    case PG_QUERY__NODE__NODE_BOOLEAN_TEST: return truth_test(*node.boolean_test, scope);
    case PG_QUERY__NODE__NODE_CASE_EXPR: return case_of(*node.case_expr, scope);
    case PG_QUERY__NODE__NODE_COALESCE_EXPR: return coalesce(*node.coalesce_expr, scope);
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR: return extreme(*node.min_max_expr, scope);
    case PG_QUERY__NODE__NODE_SUB_LINK: return sub_query(*node.sub_link, scope);
    case PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION: return current(*node.sqlvalue_function);
    case PG_QUERY__NODE__NODE_A_ARRAY_EXPR: return array(*node.a_array_expr, scope);
    case PG_QUERY__NODE__NODE_A_INDIRECTION: return element(*node.a_indirection, scope);
    case PG_QUERY__NODE__NODE_COLLATE_CLAUSE: return collated(*node.collate_clause, scope);
    case PG_QUERY__NODE__NODE_ROW_EXPR: unsupported("a row as a value", node.row_expr->location);
    case PG_QUERY__NODE__NODE_GROUPING_FUNC: unsupported("GROUPING", node.grouping_func->location);
    case PG_QUERY__NODE__NODE_SET_TO_DEFAULT:
      unsupported("DEFAULT here", node.set_to_default->location, "leave the column out, or write its value");
    default: unsupported("an expression of this form", -1);
  }
}

void Translator::unsupported(std::string_view what, int location, std::string hint) const {
  refuse("0A000", std::string(what) + " is not supported", location, std::move(hint));
}

Value Translator::constant(const PgQuery__AConst& constant) const {
  Value value{.location = constant.location};
  if (constant.isnull) {
    value.text = SqlText("NULL", constant.location);
    value.type = SqlType::Unknown;
    value.is_null = true;
    return value;
  }
  switch (constant.val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL:
      value.text = SqlText(std::to_string(constant.ival->ival), constant.location);
      value.type = SqlType::Integer;
      return value;
    case PG_QUERY__A__CONST__VAL_FVAL: {
      const std::string_view written = constant.fval->fval;
      std::int64_t integer = 0;
      const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), integer);
      const bool fits = error == std::errc() && end == written.data() + written.size();
      value.type = fits ? SqlType::Integer : SqlType::Numeric;
      double real = 0;
      if (std::from_chars(written.data(), written.data() + written.size(), real).ec == std::errc::result_out_of_range)
        refuse("22003", "\"" + std::string(written) + "\" is out of range for type numeric", constant.location,
               "numeric is computed as double precision");
      value.text = SqlText(written, constant.location);
      return value;
    }
    case PG_QUERY__A__CONST__VAL_BOOLVAL:
      value.text = SqlText(constant.boolval->boolval ? "TRUE" : "FALSE", constant.location);
      value.type = SqlType::Bool;
      value.name = "bool";
      return value;
    case PG_QUERY__A__CONST__VAL_SVAL:
      value.text = SqlText(quote_string(constant.sval->sval), constant.location);
      value.type = SqlType::Unknown;
      value.literal = constant.sval->sval;
      return value;
    case PG_QUERY__A__CONST__VAL_BSVAL: {
      // SQLite's constants of bytes look like PostgreSQL's strings of bits, which eindb does not have.
      const std::string_view written = constant.bsval->bsval;
      if (!written.starts_with('x') || written.size() % 2 == 0) unsupported("a string of bits", constant.location);
      value.text = SqlText("x'" + std::string(written.substr(1)) + "'", constant.location);
      value.type = SqlType::Bytea;
      value.name = "bytea";
      return value;
    }
    default: unsupported("a constant of this form", constant.location);
  }
}

Value Translator::column(const PgQuery__ColumnRef& column, const Scope& scope) {
  auto fields = nodes(column.n_fields, column.fields);
  if (fields.size() == 3) fields = fields.subspan(1);  // schema.table.column
  if (fields.empty() || fields.size() > 2) unsupported("a name of more than three parts", column.location);
  const auto name = text_of(*fields.back());
  const auto source = fields.size() == 2 ? text_of(*fields[0]) : std::string();
  const auto found = scope.find(source, name);
  if (!found && !source.empty() && !scope.has_source(source))
    refuse("42P01", "missing FROM-clause entry for table \"" + source + "\"", column.location);
  if (!found && source.empty() && scope.has_source(name))
    unsupported("a whole row as a value", column.location, "name its columns");
  if (!found)
    refuse("42703", "column " + (source.empty() ? "\"" + name + "\"" : source + "." + name) + " does not exist",
           column.location, scope.hint_for(name));
  if (found->ambiguous) refuse("42702", "column reference \"" + name + "\" is ambiguous", column.location);
  note_use(name, *found, column.location, scope);
  auto text = !found->sql.empty() ? found->sql
              : source.empty()    ? quote_identifier(name)
                                  : quote_identifier(source) + "." + quote_identifier(name);
  return {.text = SqlText(text, column.location),
          .type = found->type,
          .location = column.location,
          .name = name,
          .declared = found->declared};
}

Value Translator::parameter(const PgQuery__ParamRef& parameter) {
  const auto number = static_cast<std::size_t>(parameter.number);
  if (const auto variable = variables_.find(number); variable != variables_.end())
    return {.text = SqlText(":" + variable->second, parameter.location),
            .type = SqlType::Integer,
            .location = parameter.location};
  const auto known = parameters_.find(number);
  if (converts_ && known != parameters_.end()) return converted_parameter(number, known->second, parameter.location);
  return {.text = SqlText("$" + std::to_string(number), parameter.location),
          .type = known == parameters_.end() ? SqlType::Unknown : known->second,
          .location = parameter.location,
          .parameter = number};
}

// A value of whatever type is read as its text would be, but that the readers of numbers round numbers.
Value Translator::converted_parameter(std::size_t number, SqlType type, int location) {
  const auto name = "$" + std::to_string(number);
  Value value{.text = SqlText(is_number(type) ? name : "CAST(" + name + " AS TEXT)", location),
              .type = SqlType::Text,
              .location = location};
  return coerce(std::move(value), type, Coercion::Explicit);
}

Value Translator::truth(Value value, std::string_view what) {
  if (value.type == SqlType::Unknown) value = settle(std::move(value), SqlType::Bool);
  if (value.type != SqlType::Bool && value.type != SqlType::Any)
    refuse("42804",
           "argument of " + std::string(what) + " must be type boolean, not type " + std::string(name_of(value.type)),
           value.location, hint_for(value.type));
  return value;
}

SqlText Translator::condition(const PgNode& node, const Scope& scope, std::string_view what) {
  return truth(expression(node, scope), what).text;
}

Value Translator::logic(const PgQuery__BoolExpr& node, const Scope& scope) {
  const bool is_not = node.boolop == PG_QUERY__BOOL_EXPR_TYPE__NOT_EXPR;
  const std::string_view word = is_not ? "NOT" : node.boolop == PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR ? "OR" : "AND";
  std::vector<SqlText> parts;
  for (const auto* argument : nodes(node.n_args, node.args)) parts.push_back(condition(*argument, scope, word));
  CHECK(!parts.empty(), "AND, OR and NOT have operands");
  auto text = is_not ? SqlText("(NOT ") + parts[0] : SqlText("(") + joined(parts, " " + std::string(word) + " ");
  return {.text = text + ")", .type = SqlType::Bool, .location = node.location};
}

Value Translator::truth_test(const PgQuery__BooleanTest& node, const Scope& scope) {
  auto argument = truth(expression(*node.arg, scope), "IS");
  std::string_view test;
  switch (node.booltesttype) {
    case PG_QUERY__BOOL_TEST_TYPE__IS_TRUE: test = " IS TRUE)"; break;
    case PG_QUERY__BOOL_TEST_TYPE__IS_NOT_TRUE: test = " IS NOT TRUE)"; break;
    case PG_QUERY__BOOL_TEST_TYPE__IS_FALSE: test = " IS FALSE)"; break;
    case PG_QUERY__BOOL_TEST_TYPE__IS_NOT_FALSE: test = " IS NOT FALSE)"; break;
    case PG_QUERY__BOOL_TEST_TYPE__IS_UNKNOWN: test = " IS NULL)"; break;
    default: test = " IS NOT NULL)";
  }
  return {.text = SqlText("(") + argument.text + test, .type = SqlType::Bool, .location = node.location};
}

Value Translator::null_test(const PgQuery__NullTest& node, const Scope& scope) {
  if (node.arg->node_case == PG_QUERY__NODE__NODE_ROW_EXPR)
    unsupported("IS NULL of a row", node.location, "write it for each column");
  auto argument = checked(expression(*node.arg, scope));
  if (argument.parameter != 0) argument = settle(std::move(argument), SqlType::Text);
  const bool is_null = node.nulltesttype == PG_QUERY__NULL_TEST_TYPE__IS_NULL;
  return {.text = SqlText("(") + argument.text + (is_null ? " IS NULL)" : " IS NOT NULL)"),
          .type = SqlType::Bool,
          .location = node.location};
}

/// The type with modifiers that values have that were brought to one type; empty if they have several.
std::string common_declared(const std::vector<Value>& values, SqlType type) {
  std::string declared;
  for (const auto& value : values) {
    const bool is_open = type == SqlType::Array && value.declared.empty();  // an array constant
    if (is_open || value.is_null) continue;
    if (value.declared.empty() || (!declared.empty() && declared != value.declared)) return {};
    declared = value.declared;
  }
  return declared;
}

SqlType Translator::unify(std::vector<Value>& values, std::string_view what) {
  auto type = SqlType::Unknown;
  for (const auto& value : values) {
    if (value.type == SqlType::Unknown || value.type == type) continue;
    if (type == SqlType::Unknown || value.type == SqlType::Any) type = value.type;
    else if (type == SqlType::Any) continue;
    else if (is_number(type) && is_number(value.type)) type = std::max(type, value.type);
    else if (is_moment(type) && is_moment(value.type)) type = std::max(type, value.type);
    else
      refuse("42804",
             std::string(what) + " types " + std::string(name_of(type)) + " and " + std::string(name_of(value.type)) +
                 " cannot be matched",
             value.location, hint_for(value.type == SqlType::Complex ? value.type : type));
  }
  if (type == SqlType::Unknown) type = SqlType::Text;
  for (auto& value : values) value = coerce(std::move(value), type, Coercion::Implicit);
  return type;
}

Value Translator::case_of(const PgQuery__CaseExpr& node, const Scope& scope) {
  std::vector<Value> results;
  std::vector<SqlText> tests;
  for (const auto* each : nodes(node.n_args, node.args)) {
    CHECK(each->node_case == PG_QUERY__NODE__NODE_CASE_WHEN, "CASE has conditions");
    const auto& when = *each->case_when;
    if (node.arg == nullptr) tests.push_back(condition(*when.expr, scope, "CASE/WHEN"));
    else
      tests.push_back(comparison("=", expression(*node.arg, scope), expression(*when.expr, scope), when.location).text);
    results.push_back(expression(*when.result, scope));
  }
  const bool has_default = node.defresult != nullptr;
  if (has_default) results.push_back(expression(*node.defresult, scope));
  const auto name =
      has_default && node.defresult->node_case == PG_QUERY__NODE__NODE_COLUMN_REF ? results.back().name : "case";
  const auto type = unify(results, "CASE");
  SqlText text("CASE", node.location);
  for (std::size_t n = 0; n < tests.size(); ++n) text += SqlText(" WHEN ") + tests[n] + " THEN " + results[n].text;
  if (has_default) text += SqlText(" ELSE ") + results.back().text;
  return {.text = text + " END",
          .type = type,
          .location = node.location,
          .name = name,
          .declared = common_declared(results, type)};
}

Value Translator::coalesce(const PgQuery__CoalesceExpr& node, const Scope& scope) {
  std::vector<Value> values;
  for (const auto* argument : nodes(node.n_args, node.args)) values.push_back(expression(*argument, scope));
  const auto type = unify(values, "COALESCE");
  if (values.size() == 1) return values[0];
  std::vector<SqlText> texts;
  for (const auto& value : values) texts.push_back(value.text);
  return {.text = SqlText("coalesce(", node.location) + joined(texts) + ")",
          .type = type,
          .location = node.location,
          .name = "coalesce",
          .declared = common_declared(values, type)};
}

Value Translator::extreme(const PgQuery__MinMaxExpr& node, const Scope& scope) {
  const bool greatest = node.op == PG_QUERY__MIN_MAX_OP__IS_GREATEST;
  std::vector<Value> values;
  for (const auto* argument : nodes(node.n_args, node.args)) values.push_back(expression(*argument, scope));
  const auto type = unify(values, greatest ? "GREATEST" : "LEAST");
  if (type == SqlType::Complex)
    refuse("42883", "complex numbers have no order: GREATEST and LEAST are not defined for them", node.location,
           hint_for(type));
  std::vector<SqlText> texts;
  for (const auto& value : values) texts.push_back(value.text);
  Value out{.text = SqlText(greatest ? "pg_greatest(" : "pg_least(", node.location) + joined(texts) + ")",
            .type = type,
            .location = node.location,
            .name = greatest ? "greatest" : "least"};
  if (type == SqlType::Integer || type == SqlType::Bool) out.text = SqlText("CAST(") + out.text + " AS INTEGER)";
  else if (type == SqlType::Float) out.text = SqlText("CAST(") + out.text + " AS REAL)";
  else if (!is_number(type) && type != SqlType::Any) out.text = SqlText("CAST(") + out.text + " AS TEXT)";
  return out;
}

Value Translator::current(const PgQuery__SQLValueFunction& node) {
  const auto made = [&](std::string_view text, SqlType type, std::string_view name) {
    return Value{
        .text = SqlText(text, node.location), .type = type, .location = node.location, .name = std::string(name)};
  };
  const auto with_digits = [&](std::string_view text, SqlType type, std::string_view name) {
    return fit(made(text, type, name), "timestamp", {node.typmod}, Coercion::Explicit);
  };
  const auto named = [&](std::string_view name) {
    uses_catalog_ = true;
    return made(std::string(name) + "()", SqlType::Text, name);
  };
  switch (node.op) {
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_DATE:
      return made("pg_date(now())", SqlType::Date, "current_date");
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP:
      return made("now()", SqlType::TimestampTz, "current_timestamp");
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP_N:
      return with_digits("now()", SqlType::TimestampTz, "current_timestamp");
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP:
      return made("pg_timestamp(now())", SqlType::Timestamp, "localtimestamp");
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP_N:
      return with_digits("pg_timestamp(now())", SqlType::Timestamp, "localtimestamp");
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIME:
      return made("pg_time(pg_timestamp(now()))", SqlType::Time, "localtime");
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIME_N:
      return with_digits("pg_time(pg_timestamp(now()))", SqlType::Time, "localtime");
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_ROLE: return named("current_role");
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_USER: return named("current_user");
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_USER: {
      auto user = named("current_user");
      user.name = "user";
      return user;
    }
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_SESSION_USER: return named("session_user");
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_CATALOG: return named("current_catalog");
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_SCHEMA: return named("current_schema");
    default: unsupported("a time with a time zone", node.location, "use LOCALTIME, or CURRENT_TIMESTAMP");
  }
}

Value Translator::collated(const PgQuery__CollateClause& node, const Scope& scope) {
  const auto names = nodes(node.n_collname, node.collname);
  const auto name = names.empty() ? std::string() : text_of(*names.back());
  auto value = expression(*node.arg, scope);
  const bool of_sqlite = name == "nocase" || name == "binary" || name == "rtrim";
  if (!of_sqlite && name != "C" && name != "POSIX" && name != "default" && name != "ucs_basic")
    refuse("42704", "collation \"" + name + "\" does not exist", node.location, "\"C\" compares by code points");
  if (value.type == SqlType::Unknown) value = settle(std::move(value), SqlType::Text);
  if (value.type != SqlType::Text && value.type != SqlType::Any)
    refuse("42804", "collations are not supported by type " + std::string(name_of(value.type)), node.location);
  if (of_sqlite) value.text = SqlText("(") + value.text + " COLLATE " + name + ")";
  return value;
}

Value Translator::sub_query(const PgQuery__SubLink& node, const Scope& scope) {
  CHECK(node.subselect->node_case == PG_QUERY__NODE__NODE_SELECT_STMT, "a subquery is a SELECT");
  const auto& select = *node.subselect->select_stmt;
  const bool had_aggregate = has_aggregate_;
  const bool was_in_aggregate = in_aggregate_;
  in_aggregate_ = false;
  auto inner = query(select, &scope);
  has_aggregate_ = had_aggregate;
  in_aggregate_ = was_in_aggregate;
  const auto one_column = [&] {
    if (inner.known && inner.columns.size() != 1)
      refuse("42601", "subquery must return only one column", node.location);
    if (inner.columns.empty()) inner.columns.emplace_back();
    return inner.columns[0].type;
  };
  switch (node.sub_link_type) {
    case PG_QUERY__SUB_LINK_TYPE__EXISTS_SUBLINK:
      return {.text = SqlText("EXISTS (", node.location) + inner.text + ")",
              .type = SqlType::Bool,
              .location = node.location,
              .name = "exists"};
    case PG_QUERY__SUB_LINK_TYPE__EXPR_SUBLINK: {
      const auto type = one_column();
      auto text = SqlText("(", node.location) + inner.text + ")";
      // SQLite takes the first of several rows, where PostgreSQL refuses them.
      if (!inner.has_one_row)
        text = SqlText(
                   "(SELECT CASE WHEN count(*) > 1 AND pg_refuse('21000', 'more than one row returned by a subquery "
                   "used as an expression') THEN NULL ELSE v END FROM (WITH s(v) AS (",
                   node.location) +
               inner.text + ") SELECT v FROM s LIMIT 2))";
      return {.text = text, .type = type, .location = node.location, .name = inner.columns[0].name};
    }
    case PG_QUERY__SUB_LINK_TYPE__ANY_SUBLINK: {
      if (node.n_oper_name > 0 && name_in_catalog(nodes(node.n_oper_name, node.oper_name)) != "=")
        unsupported("ANY with this operator and a query", node.location,
                    "write EXISTS (SELECT ... WHERE ...) with the comparison in it");
      if (node.testexpr->node_case == PG_QUERY__NODE__NODE_ROW_EXPR) {
        auto left = row(*node.testexpr, scope);
        if (!inner.known)
          unsupported("IN with rows of unknown columns", node.location, "name the columns of the query");
        if (left.size() != inner.columns.size())
          refuse(
              "42601",
              "subquery has " + std::string(left.size() < inner.columns.size() ? "too many" : "too few") + " columns",
              node.location);
        std::vector<SqlText> texts;
        for (std::size_t n = 0; n < left.size(); ++n) {
          Value right{.type = inner.columns[n].type, .location = node.location, .declared = inner.columns[n].declared};
          compare_types("=", left[n], right, node.location);
          if (!right.text.empty())
            unsupported("IN with rows of other types", node.location, "cast the query's columns");
          texts.push_back(left[n].text);
        }
        return {.text = SqlText("((") + joined(texts) + ") IN (" + inner.text + "))",
                .type = SqlType::Bool,
                .location = node.location};
      }
      Value right{.type = one_column(), .location = node.location, .declared = inner.columns[0].declared};
      auto left = checked(expression(*node.testexpr, scope));
      compare_types("=", left, right, node.location);
      if (!right.text.empty())
        unsupported("IN with a query of another type", node.location, "cast the column of the query");
      return {.text = SqlText("(") + left.text + " IN (" + inner.text + "))",
              .type = SqlType::Bool,
              .location = node.location};
    }
    case PG_QUERY__SUB_LINK_TYPE__ARRAY_SUBLINK: {
      const auto type = one_column();
      const auto& declared = inner.columns[0].declared;
      return {.text = SqlText("(WITH pg_elements(element) AS (", node.location) + inner.text +
                      ") SELECT pg_array_of_json(json_group_array(element)) FROM pg_elements)",
              .type = SqlType::Array,
              .location = node.location,
              .name = "array",
              .declared = array_declared(type, declared)};
    }
    case PG_QUERY__SUB_LINK_TYPE__ALL_SUBLINK: {
      if (name_in_catalog(nodes(node.n_oper_name, node.oper_name)) != "<>")
        unsupported("ALL with this operator and a query", node.location,
                    "write NOT EXISTS (SELECT ... WHERE NOT ...) with the comparison in it");
      Value right{.type = one_column(), .location = node.location, .declared = inner.columns[0].declared};
      auto left = checked(expression(*node.testexpr, scope));
      compare_types("=", left, right, node.location);
      if (!right.text.empty())
        unsupported("ALL with a query of another type", node.location, "cast the column of the query");
      return {.text = SqlText("(") + left.text + " NOT IN (" + inner.text + "))",
              .type = SqlType::Bool,
              .location = node.location};
    }
    default: unsupported("a subquery of this form", node.location);
  }
}

}  // namespace eindb::dialect
