#include <algorithm>
#include <cmath>

#include "common/coded_error.hpp"
#include "common/letter_case.hpp"
#include "engine/dialect/array_text.hpp"
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
      const auto number = real_from(text, name_of(type));
      if (std::isnan(number))
        throw CodedError("0A000", ErrorKind::Unsupported,
                         "NaN as a value of a column is not supported: it would be NULL");
      if (std::isinf(number)) return number < 0 ? "-9e999" : "9e999";
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
    case SqlType::Json: return quote_string(json_from(text));
    case SqlType::Array: return quote_string(checked_array(text, SqlType::Any));
    default: return quote_string(text);
  }
}

// now, today, ... are read when the statement runs.
std::string trimmed_lower(std::string_view text) {
  const auto begin = std::min(text.find_first_not_of(' '), text.size());
  return to_lower(text.substr(begin, text.find_last_not_of(' ') + 1 - begin));
}

bool is_special_moment(std::string_view text) {
  const auto word = trimmed_lower(text);
  return word == "now" || word == "today" || word == "tomorrow" || word == "yesterday" || word == "epoch" ||
         word == "infinity" || word == "-infinity";
}

/// The function that reads a text as a value of the type at run time, or raises 22P02.
std::string reader_of(SqlType type) {
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
    case SqlType::Bytea: return "pg_bytea";
    default: return "";
  }
}

/// The type of a cast as CREATE TABLE would have it: numeric(10,2), varchar(3), date.
std::string declared_text(SqlType type, const std::string& name, const std::vector<std::int64_t>& modifiers) {
  if (modifiers.empty() || (type != SqlType::Numeric && type != SqlType::Text)) return std::string(name_of(type));
  std::string out = name;
  for (std::size_t n = 0; n < modifiers.size(); ++n) out += (n == 0 ? "(" : ",") + std::to_string(modifiers[n]);
  return out + ")";
}

bool may_become(SqlType from, SqlType to, Coercion coercion) {
  using enum SqlType;
  if (from == Complex) return to == Text && coercion == Coercion::Explicit;
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

std::string hint_for(SqlType type, std::string_view otherwise) {
  return type == SqlType::Complex ? "the parts of complex numbers are numbers, in the columns re and im, and val::text "
                                    "is their text: SUM(re), SUM(im); EINSUM computes with complex numbers"
                                  : std::string(otherwise);
}

Value Translator::settle(Value value, SqlType type) {
  if (value.type != SqlType::Unknown || type == SqlType::Unknown) return value;
  value.type = type;
  if (value.parameter != 0) {
    if (type != SqlType::Any) parameters_.emplace(value.parameter, type);
    return converts_ ? converted_parameter(value.parameter, type, value.location) : value;
  }
  if (!value.literal) return value;
  if (is_moment(type) && is_special_moment(*value.literal)) return special_moment(std::move(value));
  try {
    value.text = SqlText(constant_of(*value.literal, type), value.location);
  } catch (const CodedError& error) {
    refuse(error.sqlstate(), error.message(), value.location);
  }
  value.literal.reset();
  return value;
}

Value Translator::to_array(Value value, SqlType element) {
  value = checked(std::move(value));
  const bool is_constant = value.type == SqlType::Unknown && value.literal.has_value();
  const bool is_null = value.is_null;
  if (is_constant) {
    try {
      value.text = SqlText(quote_string(checked_array(*value.literal, element)), value.location);
    } catch (const CodedError& error) {
      refuse(error.sqlstate(), error.message(), value.location, error.hint());
    }
    value.literal.reset();
    value.type = SqlType::Array;
  } else if (value.type == SqlType::Unknown) {
    if (value.parameter != 0) array_parameters_.emplace(value.parameter, array_declared(element));
    value = settle(std::move(value), SqlType::Array);
  }
  const bool is_vector = value.declared == "int2vector";
  if (!is_constant && !is_null && !is_vector)
    value.text = SqlText("pg_to_array(", value.location) + value.text + ", '" +
                 (element == SqlType::Any ? "" : std::string(name_of(element))) + "')";
  value.type = SqlType::Array;
  value.declared = array_declared(element);
  value.parameter = 0;
  return value;
}

// 'now', 'today' and the like mean the moment at which the statement runs.
Value Translator::special_moment(Value value) const {
  const auto word = trimmed_lower(*value.literal);
  if (word.ends_with("infinity"))
    unsupported("the moment '" + word + "'", value.location, "the years are 1 to 9999: take the first or the last day");
  const auto today = std::string("pg_date(now())");
  std::string text = "now()";
  if (word == "today") text = today;
  if (word == "tomorrow") text = "pg_date_plus(" + today + ", 1)";
  if (word == "yesterday") text = "pg_date_minus(" + today + ", 1)";
  if (word == "epoch") text = "'1970-01-01'";
  const std::string reader = value.type == SqlType::Date        ? "pg_date("
                             : value.type == SqlType::Timestamp ? "pg_timestamp("
                                                                : "pg_timestamptz(";
  value.text = SqlText(reader + text + ")", value.location);
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
    case Numeric: called("pg_numeric_text"); break;
    case Float: called("pg_number_text"); break;
    case Bytea: called("pg_bytea_text"); break;
    case Integer: value.text = SqlText("CAST(", value.location) + value.text + " AS TEXT)"; break;
    case Complex:
    case Any: value.text = SqlText("CAST(", value.location) + value.text + " AS TEXT)"; break;
    case Date:
    case Time:
    case Timestamp:
    case TimestampTz:
    case Interval:
    case Uuid:
      // Columns of these types are numeric for SQLite, which would read a text beside them as a number: '749'.
      value.text = SqlText("CAST(", value.location) + value.text + " AS TEXT)";
      break;
    default: break;
  }
  if (value.type != Text) value.declared.clear();
  value.type = Text;
  value.literal.reset();
  value.parameter = 0;
  return value;
}

Value Translator::with_blanks(Value value) const {
  const auto width = value.type == SqlType::Text ? padded_width(value.declared) : std::nullopt;
  if (!width) return value;
  value.text = SqlText("pg_rpad(", value.location) + value.text + ", " + std::to_string(*width) + ")";
  value.declared.clear();
  return value;
}

Value Translator::output_text(Value value) const {
  value = with_blanks(std::move(value));
  if (value.type != SqlType::Bool) return to_text(std::move(value));
  value.text = SqlText("(CASE ", value.location) + value.text + " WHEN 1 THEN 't' WHEN 0 THEN 'f' END)";
  value.type = SqlType::Text;
  return value;
}

Value Translator::coerce(Value value, SqlType target, Coercion coercion) {
  using enum SqlType;
  if (target == Any || target == Unknown) return checked(std::move(value));
  if (value.type == Unknown) return settle(std::move(value), target);
  value = checked(std::move(value));
  if (value.type == target) return value;
  if (value.type == Any && coercion == Coercion::Implicit && !is_number(target)) return value;
  if (value.type != Any && !may_become(value.type, target, coercion)) {
    refuse(coercion == Coercion::Explicit ? "42846" : "42883",
           (coercion == Coercion::Explicit ? "cannot cast type " : "no implicit conversion of type ") +
               std::string(name_of(value.type)) + " to " + std::string(name_of(target)),
           value.location,
           hint_for(value.type, coercion == Coercion::Explicit ? "" : "You might need to add explicit type casts."));
  }
  if (target == Text) return to_text(std::move(value));
  const auto called = [&](std::string_view function) {
    value.text = SqlText(std::string(function) + "(", value.location) + value.text + ")";
  };
  const auto from = std::exchange(value.type, target);
  value.parameter = 0;
  value.declared.clear();
  if (target == Numeric && from == Float) called("pg_decimal");
  if (target == Numeric && is_number(from)) return value;
  if (target == Float && is_number(from)) value.text = SqlText("CAST(", value.location) + value.text + " AS REAL)";
  else if (target == Integer && from == Numeric) called("pg_integer_of_numeric");
  else if (target == Integer && from == Float) called("pg_integer_of_float");
  else if (target == Integer && from == Bool) value.text = SqlText("CAST(") + value.text + " AS INTEGER)";
  else if (target == Bool && from == Integer) value.text = SqlText("(") + value.text + " <> 0)";
  else if (target == Timestamp && from == Date) value.text = SqlText("(") + value.text + " || ' 00:00:00')";
  else if (target == TimestampTz && from == Date) value.text = SqlText("(") + value.text + " || ' 00:00:00+00')";
  else if (const auto reader = reader_of(target); !reader.empty()) called(reader);
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
  if (type == "float4" && cuts) wrapped("pg_float4", "");
  const bool is_varying = type == "varchar" || type == "character varying";
  const bool is_padded = type == "bpchar" || type == "character" || type == "char";
  if (value.type == SqlType::Text && (is_varying || is_padded)) {
    const bool is_single = modifiers.empty() && (type == "char" || type == "character");
    if (is_single || !modifiers.empty())
      wrapped(cuts        ? "pg_cut"
              : is_padded ? "pg_fit_padded"
                          : "pg_fit",
              ", " + std::to_string(is_single ? 1 : modifiers[0]));
    // A cast to "char", in quotes, is one to a type of its own, which has blanks.
    if (is_padded && !(is_single && cuts)) wrapped("rtrim", "");
  }
  const bool has_seconds =
      value.type == SqlType::Time || value.type == SqlType::Timestamp || value.type == SqlType::TimestampTz;
  const bool is_whole = value.text.str().starts_with('\'') && value.text.str().find('.') == std::string::npos;
  if (has_seconds && !is_whole && !modifiers.empty() && modifiers[0] < 6)
    wrapped("pg_moment_precision", ", " + std::to_string(modifiers[0]));
  if (value.type == SqlType::Numeric && !modifiers.empty())
    wrapped("pg_scale",
            ", " + std::to_string(modifiers[0]) + ", " + std::to_string(modifiers.size() > 1 ? modifiers[1] : 0));
  return value;
}

Value Translator::cast(const PgQuery__TypeCast& node, const Scope& scope) {
  const auto& type_name = *node.type_name;
  const auto name = name_in_catalog(nodes(type_name.n_names, type_name.names));
  if (type_name.setof || type_name.pct_type) unsupported("a cast to a type of this form", node.location);
  const bool is_array = type_name.n_array_bounds > 0;
  auto value = expression(*node.arg, scope);
  // Object identifiers of the catalog: a name becomes a number, and a number a name.
  if (name.starts_with("reg") && !is_array) {
    uses_catalog_ = true;
    const auto function = name == "regprocedure" ? std::string("regproc") : name;
    auto named = value.type == SqlType::Unknown ? settle(std::move(value), SqlType::Text) : checked(std::move(value));
    return {.text = SqlText(function + "(", node.location) + named.text + ")", .location = node.location, .name = name};
  }
  const auto type = is_array ? SqlType::Array : type_named(name);
  if (type == SqlType::Any) refuse("42704", "type \"" + name + "\" does not exist", type_name.location);
  if (is_array && value.type != SqlType::Unknown && value.type != SqlType::Array && value.type != SqlType::Any &&
      value.type != SqlType::Text)
    refuse("42846", "cannot cast type " + std::string(name_of(value.type)) + " to " + name + "[]", node.location);
  if (type == SqlType::Interval && type_name.n_typmods > 0)
    unsupported("an interval with fields or a precision", type_name.location, "cast to interval alone");
  std::vector<std::int64_t> modifiers;
  for (const auto* modifier : nodes(type_name.n_typmods, type_name.typmods)) {
    if (modifier->node_case != PG_QUERY__NODE__NODE_A_CONST ||
        modifier->a_const->val_case != PG_QUERY__A__CONST__VAL_IVAL)
      unsupported("a type with a modifier that is no number", type_name.location);
    modifiers.push_back(modifier->a_const->ival->ival);
  }
  const auto inner_name = value.name;
  if (inner_name.starts_with("reg") && type == SqlType::Integer &&
      node.arg->node_case == PG_QUERY__NODE__NODE_TYPE_CAST) {
    value.text = SqlText("CAST(", node.location) + value.text + " AS INTEGER)";
    value.type = SqlType::Integer;
  }
  if (!is_array) {
    auto out = cast_to(name, std::move(value), modifiers, node.location);
    out.name = inner_name == "?column?" || inner_name == "bool" ? name : inner_name;
    return out;
  }
  auto out = to_array(std::move(value), type_named(name));
  out.parameter = 0;
  out.literal.reset();
  out.name = inner_name == "?column?" || inner_name == "bool" ? name : inner_name;
  out.declared = array_declared(type_named(name));
  return out;
}

Value Translator::cast_to(const std::string& name, Value value, const std::vector<std::int64_t>& modifiers,
                          int location) {
  const auto type = type_named(name);
  if (value.type == SqlType::Bool && type == SqlType::Integer && name != "int4")
    refuse("42846", "cannot cast type boolean to " + (name == "int8" ? std::string("bigint") : "smallint"), location);
  auto out = value.type == SqlType::Unknown ? settle(std::move(value), type)
                                            : coerce(std::move(value), type, Coercion::Explicit);
  // The client sends what the cast of a parameter names.
  if (out.parameter == 0) out = fit(std::move(out), name, modifiers, Coercion::Explicit);
  out.parameter = 0;
  out.literal.reset();
  out.name = name;
  if (name == "oid" || name == "name") out.declared = name == "oid" ? "oid" : "name text";
  else out.declared = declared_text(type, name, modifiers);
  return out;
}

}  // namespace eindb::dialect
