#include <algorithm>
#include <cmath>

#include "common/coded_error.hpp"
#include "common/letter_case.hpp"
#include "engine/dialect/literals.hpp"
#include "engine/dialect/translator.hpp"
#include "parser/token_value.hpp"

namespace eindb::dialect {
namespace {

/// The constant as SQL, in the form in which values of the type are stored.
std::string constant_of(const std::string& text, SqlType type) {
  switch (type) {
    case SqlType::Integer: return std::to_string(integer_from(text));
    case SqlType::Numeric:
    case SqlType::Float: {
      const bool is_float = type == SqlType::Float;
      const auto value = real_from(text, name_of(type));
      // SQLite reads a number beyond the largest as infinity, and has NULL for NaN.
      if (std::isinf(value)) return value < 0 ? "(-9e999)" : "9e999";
      if (std::isnan(value))
        throw CodedError("0A000", ErrorKind::Unsupported, "NaN is not a value of SQL here", "NULL");
      return "CAST(" + quote_string(text) + (is_float ? " AS REAL)" : " AS NUMERIC)");
    }
    case SqlType::Bool: return truth_from(text) ? "TRUE" : "FALSE";
    case SqlType::Date: return quote_string(date_from(text));
    case SqlType::Time: return quote_string(time_from(text));
    case SqlType::Timestamp: return quote_string(timestamp_from(text, false));
    case SqlType::TimestampTz: return quote_string(timestamp_from(text, true));
    case SqlType::Interval: return quote_string(interval_from(text));
    case SqlType::Uuid: return quote_string(uuid_from(text));
    case SqlType::Bytea: return "pg_bytea(" + quote_string(text) + ")";
    default: return quote_string(text);
  }
}

// now, today, ... are read when the statement runs.
bool is_special_moment(std::string_view text) {
  const auto word = to_lower(text.substr(std::min(text.find_first_not_of(' '), text.size())));
  return word == "now" || word == "today" || word == "tomorrow" || word == "yesterday" || word == "epoch" ||
         word == "infinity" || word == "-infinity";
}

/// The function that reads a text as a value of the type at run time, or raises 22P02.
std::string_view reader_of(SqlType type) {
  switch (type) {
    case SqlType::Bool: return "pg_bool";
    case SqlType::Integer: return "pg_integer";
    case SqlType::Numeric: return "pg_numeric";
    case SqlType::Float: return "pg_float";
    case SqlType::Date: return "pg_date";
    case SqlType::Time: return "pg_time";
    case SqlType::Timestamp: return "pg_timestamp";
    case SqlType::TimestampTz: return "pg_timestamptz";
    case SqlType::Interval: return "pg_interval";
    case SqlType::Uuid: return "pg_uuid";
    case SqlType::Json: return "pg_json";
    default: throw NotTranslated();
  }
}

bool may_become(SqlType from, SqlType to, Coercion coercion) {
  using enum SqlType;
  if (is_number(from) && is_number(to)) return from < to || coercion != Coercion::Implicit;
  if (is_moment(from) && is_moment(to)) return from < to || coercion != Coercion::Implicit;
  if (to == Text) return coercion != Coercion::Implicit;
  if (from == Text || (from == Bool && to == Integer) || (from == Integer && to == Bool))
    return coercion == Coercion::Explicit;
  if ((from == Timestamp || from == TimestampTz) && to == Time) return coercion != Coercion::Implicit;
  if (from == Interval && to == Time) return coercion != Coercion::Implicit;
  return false;
}

}  // namespace

Value Translator::settle(Value value, SqlType type) {
  if (value.type != SqlType::Unknown || type == SqlType::Unknown) return value;
  value.type = type;
  if (value.parameter != 0) {
    if (type != SqlType::Any) parameters_.emplace(value.parameter, type);
    return value;
  }
  if (!value.literal) return value;
  if (is_moment(type) && is_special_moment(*value.literal)) throw NotTranslated();
  try {
    value.text = SqlText(constant_of(*value.literal, type), value.location);
  } catch (const CodedError& error) {
    refuse(error.sqlstate(), error.message(), value.location);
  }
  value.literal.reset();
  return value;
}

Value Translator::checked(Value value) const {
  if (!value.may_overflow) return value;
  value.may_overflow = false;
  value.text = SqlText("pg_in_range(", value.location) + value.text + ")";
  return value;
}

Value Translator::to_text(Value value) const {
  using enum SqlType;
  value = checked(std::move(value));
  const auto called = [&](std::string_view function) {
    value.text = SqlText(std::string(function) + "(", value.location) + value.text + ")";
  };
  switch (value.type) {
    case Bool: called("pg_bool_text"); break;
    case Numeric:
    case Float: called("pg_number_text"); break;
    case Bytea: called("pg_bytea_text"); break;
    case Integer: value.text = SqlText("CAST(", value.location) + value.text + " AS TEXT)"; break;
    case Any: value.text = SqlText("CAST(", value.location) + value.text + " AS TEXT)"; break;
    default: break;
  }
  value.type = Text;
  value.literal.reset();
  value.parameter = 0;
  return value;
}

Value Translator::coerce(Value value, SqlType target, Coercion coercion) {
  using enum SqlType;
  if (target == Any || target == Unknown) return checked(std::move(value));
  if (value.type == Unknown) return settle(std::move(value), target);
  value = checked(std::move(value));
  if (value.type == target) return value;
  if (value.type == Any && coercion == Coercion::Implicit) return value;
  if (value.type != Any && !may_become(value.type, target, coercion)) {
    refuse(coercion == Coercion::Explicit ? "42846" : "42883",
           (coercion == Coercion::Explicit ? "cannot cast type " : "no implicit conversion of type ") +
               std::string(name_of(value.type)) + " to " + std::string(name_of(target)),
           value.location, coercion == Coercion::Explicit ? "" : "You might need to add explicit type casts.");
  }
  if (target == Text) return to_text(std::move(value));
  const auto called = [&](std::string_view function) {
    value.text = SqlText(std::string(function) + "(", value.location) + value.text + ")";
  };
  const auto from = std::exchange(value.type, target);
  value.parameter = 0;
  if (target == Numeric && is_number(from)) return value;
  if (target == Float && is_number(from)) value.text = SqlText("CAST(", value.location) + value.text + " AS REAL)";
  else if (target == Integer && from == Numeric) called("pg_integer_of_numeric");
  else if (target == Integer && from == Float) called("pg_integer_of_float");
  else if (target == Integer && from == Bool) value.text = SqlText("CAST(") + value.text + " AS INTEGER)";
  else if (target == Bool && from == Integer) value.text = SqlText("(") + value.text + " <> 0)";
  else if (target == Timestamp && from == Date) value.text = SqlText("(") + value.text + " || ' 00:00:00')";
  else if (target == TimestampTz && from == Date) value.text = SqlText("(") + value.text + " || ' 00:00:00+00')";
  else called(reader_of(target));
  return value;
}

Value Translator::fit(Value value, std::string_view type, const std::vector<std::int64_t>& modifiers,
                      Coercion coercion) const {
  const auto wrapped = [&](std::string_view function, const std::string& argument) {
    value.text = SqlText(std::string(function) + "(", value.location) + value.text + argument + ")";
  };
  const bool cuts = coercion == Coercion::Explicit;
  if (type == "int2" || type == "smallint") wrapped("pg_in_range", ", 16");
  if ((type == "int4" || type == "integer" || type == "int") && cuts) wrapped("pg_in_range", ", 32");
  if (value.type == SqlType::Text &&
      (type == "varchar" || type == "bpchar" || type == "char" || type == "character" || type == "character varying")) {
    const bool pads = type == "bpchar" || type == "char" || type == "character";
    if (modifiers.empty()) return value;
    if (pads && coercion == Coercion::Explicit) throw NotTranslated();
    wrapped(cuts ? "pg_cut" : "pg_fit", ", " + std::to_string(modifiers[0]));
  }
  if (value.type == SqlType::Numeric && !modifiers.empty())
    wrapped("pg_scale",
            ", " + std::to_string(modifiers[0]) + ", " + std::to_string(modifiers.size() > 1 ? modifiers[1] : 0));
  return value;
}

Value Translator::cast(const PgQuery__TypeCast& node, const Scope& scope) {
  const auto& type_name = *node.type_name;
  const auto name = name_in_catalog(nodes(type_name.n_names, type_name.names));
  if (type_name.setof || type_name.pct_type) throw NotTranslated();
  const bool is_array = type_name.n_array_bounds > 0;
  const auto type = is_array ? SqlType::Array : type_named(name);
  if (type == SqlType::Any || name.starts_with("reg") || name == "name" || name == "char") throw NotTranslated();
  auto value = expression(*node.arg, scope);
  if (is_array && value.type != SqlType::Unknown && value.type != SqlType::Array) throw NotTranslated();
  if (type == SqlType::Interval && type_name.n_typmods > 0) throw NotTranslated();
  std::vector<std::int64_t> modifiers;
  for (const auto* modifier : nodes(type_name.n_typmods, type_name.typmods)) {
    if (modifier->node_case != PG_QUERY__NODE__NODE_A_CONST ||
        modifier->a_const->val_case != PG_QUERY__A__CONST__VAL_IVAL)
      throw NotTranslated();
    modifiers.push_back(modifier->a_const->ival->ival);
  }
  if (value.type == SqlType::Bool && type == SqlType::Integer && name != "int4")
    refuse("42846", "cannot cast type boolean to " + (name == "int8" ? std::string("bigint") : "smallint"),
           node.location);
  const auto inner_name = value.name;
  auto out = value.type == SqlType::Unknown ? settle(std::move(value), type)
                                            : coerce(std::move(value), type, Coercion::Explicit);
  if (out.parameter == 0 && !is_array) {  // the client sends what the cast of a parameter names
    out = fit(std::move(out), name, modifiers, Coercion::Explicit);
  }
  out.parameter = 0;
  out.literal.reset();
  out.name = inner_name == "?column?" || inner_name == "bool" ? name : inner_name;
  return out;
}

}  // namespace eindb::dialect
