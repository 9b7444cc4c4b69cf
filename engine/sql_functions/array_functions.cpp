// Functions on arrays as text: {1,2,NULL}.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "engine/dialect/array_text.hpp"
#include "engine/dialect/literals.hpp"
#include "engine/sql_functions/pg_values.hpp"
#include "engine/sql_functions/sql_functions.hpp"
#include "parser/token_value.hpp"
#include "parser/tokenizer.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kLongestSeries = 1'000'000;

std::optional<std::string> element_of(const SqliteValue& value) {
  if (is_null(value)) return std::nullopt;
  return text_of(value);
}

SqliteValue array_of_values(PgValues values) {
  ArrayElements elements;
  for (const auto& value : values) elements.push_back(element_of(value));
  return write_array(elements);
}

SqliteValue array_of_json(PgValues values) {
  const auto json = nlohmann::json::parse(text_of(values[0]), nullptr, false);
  if (!json.is_array()) return kNull;
  ArrayElements elements;
  for (const auto& element : json) {
    if (element.is_null()) elements.emplace_back();
    else elements.emplace_back(element.is_string() ? element.get<std::string>() : element.dump());
  }
  return write_array(elements);
}

/// An element as a value of its type. Of unknown types integers become JSON integers, so that they compare equal to
/// values of untyped columns.
nlohmann::json json_of(const std::optional<std::string>& element, dialect::SqlType type = dialect::SqlType::Any) {
  if (!element) return nullptr;
  if (type == dialect::SqlType::Bool) return dialect::truth_from(*element);
  const bool is_real = type == dialect::SqlType::Numeric || type == dialect::SqlType::Float;
  if (is_real)
    if (const auto real = dialect::real_from(*element); std::isfinite(real)) return real;
  if (type != dialect::SqlType::Any && type != dialect::SqlType::Integer) return *element;
  std::int64_t number = 0;
  const auto* const end = element->data() + element->size();
  const auto [stop, error] = std::from_chars(element->data(), end, number);
  if (error == std::errc() && stop == end) return number;
  return *element;
}

/// pg_array_json('{1,2}', 'bigint'): the elements, whose type may be left out.
SqliteValue json_of_array(PgValues values) {
  if (is_null(values[0])) return kNull;
  const auto type = values.size() > 1 ? dialect::type_of_declared(text_of(values[1])) : dialect::SqlType::Any;
  auto json = nlohmann::json::array();
  for (const auto& element : read_array(text_of(values[0]))) json.push_back(json_of(element, type));
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

SqliteValue series(PgValues values) {
  DCHECK(values.size() == 2 || values.size() == 3, "a series has a first and a last number, and may have a step");
  if (any_null(values)) return kNull;
  const auto first = integer_of(values[0]);
  const auto last = integer_of(values[1]);
  const auto step = values.size() > 2 ? integer_of(values[2]) : 1;
  if (step == 0) throw Error(ErrorKind::Value, "the step of generate_series is 0");
  const auto span = static_cast<double>(last) - static_cast<double>(first);
  if (span / static_cast<double>(step) > static_cast<double>(kLongestSeries))
    throw Error(ErrorKind::Unsupported, "generate_series of more than a million numbers");
  auto json = nlohmann::json::array();
  for (auto n = first; step > 0 ? n <= last : n >= last;) {
    json.push_back(n);
    if (__builtin_add_overflow(n, step, &n)) break;
  }
  return json.dump();
}

SqliteValue array_get(PgValues values) {
  DCHECK(values.size() == 2, "an element is that of an array, by its index");
  if (any_null(values)) return kNull;
  const auto text = text_of(values[0]);
  const auto elements = read_array(text);
  const auto first = is_vector(text) ? 0 : 1;
  const auto index = integer_of(values[1]);
  if (index < first || index - first >= static_cast<std::int64_t>(elements.size())) return kNull;
  const auto& element = elements[static_cast<std::size_t>(index - first)];
  const auto json = json_of(element);
  if (json.is_number()) return json.get<std::int64_t>();
  return element ? SqliteValue(*element) : kNull;
}

SqliteValue array_to_string(PgValues values) {
  if (is_null(values[0]) || is_null(values[1])) return kNull;
  std::string out;
  bool first = true;
  for (const auto& element : read_array(text_of(values[0]))) {
    if (!element && (values.size() < 3 || is_null(values[2]))) continue;
    if (!std::exchange(first, false)) out += text_of(values[1]);
    out += element ? *element : text_of(values[2]);
  }
  return out;
}

SqliteValue string_to_array(PgValues values) {
  if (any_null(values) || values.size() < 2) return kNull;
  const auto text = text_of(values[0]);
  const auto separator = text_of(values[1]);
  ArrayElements elements;
  for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
    const auto end = separator.empty() ? text.size() : std::min(text.find(separator, begin), text.size());
    elements.emplace_back(text.substr(begin, end - begin));
    begin = end + std::max<std::size_t>(separator.size(), 1);
  }
  return write_array(elements);
}

/// Also implements array_upper, since indices here begin at 1.
SqliteValue array_length(PgValues values) {
  if (is_null(values[0])) return kNull;
  const auto count = read_array(text_of(values[0])).size();
  return count == 0 && values.size() > 1 ? kNull : integer_value(static_cast<std::int64_t>(count));
}

SqliteValue array_lower(PgValues values) {
  return is_null(values[0]) || read_array(text_of(values[0])).empty() ? kNull : integer_value(1);
}

SqliteValue array_position(PgValues values) {
  if (values.size() < 2 || is_null(values[0])) return kNull;
  const auto elements = read_array(text_of(values[0]));
  const auto found = std::find(elements.begin(), elements.end(), element_of(values[1]));
  return found == elements.end() ? kNull : integer_value(found - elements.begin() + 1);
}

SqliteValue array_remove(PgValues values) {
  if (is_null(values[0])) return kNull;
  auto elements = read_array(text_of(values[0]));
  std::erase(elements, element_of(values[1]));
  return write_array(elements);
}

SqliteValue array_append(PgValues values) {
  auto elements = read_array(is_null(values[0]) ? "{}" : text_of(values[0]));
  elements.push_back(element_of(values[1]));
  return write_array(elements);
}

SqliteValue array_cat(PgValues values) {
  if (is_null(values[0])) return values[1];
  if (is_null(values[1])) return values[0];
  auto elements = read_array(text_of(values[0]));
  for (auto& element : read_array(text_of(values[1]))) elements.push_back(std::move(element));
  return write_array(elements);
}

/// pg_to_array('{1, 2}', 'bigint'): the text of an array, with its elements checked.
SqliteValue to_array(PgValues values) {
  if (is_null(values[0])) return kNull;
  return checked_array(text_of(values[0]), dialect::type_of_declared(text_of(values[1])));
}

SqliteValue split_part(PgValues values) {
  DCHECK(values.size() == 3, "a part is that of a text, between separators, by its number");
  const auto parts = string_to_array(values.first(2));
  if (is_null(parts) || is_null(values[2])) return kNull;
  const auto part = array_get(std::array<SqliteValue, 2>{parts, values[2]});
  return is_null(part) ? SqliteValue(std::string()) : SqliteValue(text_of(part));
}

/// Example: parse_ident('public."My table"') is {public,"My table"}.
SqliteValue parse_ident(PgValues values) {
  if (is_null(values[0])) return kNull;
  ArrayElements parts;
  const auto text = text_of(values[0]);
  for (const auto& token : tokens_of(text, kPostgresRules)) {
    if (token.is(Token::Kind::QuotedName)) parts.emplace_back(unquote(token));
    else if (token.is(Token::Kind::Word)) parts.emplace_back(to_lower(token.text));
    if (token.is(Token::Kind::Unterminated)) return kNull;
  }
  return write_array(parts);
}

SqliteValue array_of_one(PgValues values) { return is_null(values[0]) ? kNull : array_of_values(values.first(1)); }

constexpr std::array kArrayFunctions{
    PgFunction{"pg_array", -1, "TEXT", &array_of_values},
    PgFunction{"pg_array_cat", 2, "TEXT", &array_cat},
    PgFunction{"pg_array_get", 2, "", &array_get},
    PgFunction{"pg_array_json", 1, "TEXT", &json_of_array},
    PgFunction{"pg_array_json", 2, "TEXT", &json_of_array},
    PgFunction{"pg_array_of_json", 1, "TEXT", &array_of_json},
    PgFunction{"pg_to_array", 2, "TEXT", &to_array},
    PgFunction{"pg_series", 2, "TEXT", &series},
    PgFunction{"pg_series", 3, "TEXT", &series},
    PgFunction{"array_append", 2, "TEXT", &array_append},
    PgFunction{"array_length", 2, "INTEGER", &array_length},
    PgFunction{"array_lower", 2, "INTEGER", &array_lower},
    PgFunction{"array_position", 2, "INTEGER", &array_position},
    PgFunction{"array_remove", 2, "TEXT", &array_remove},
    PgFunction{"array_to_string", 2, "TEXT", &array_to_string},
    PgFunction{"array_to_string", 3, "TEXT", &array_to_string},
    PgFunction{"array_upper", 2, "INTEGER", &array_length},
    PgFunction{"cardinality", 1, "INTEGER", &array_length},
    PgFunction{"parse_ident", 1, "TEXT", &parse_ident},
    PgFunction{"parse_ident", 2, "TEXT", &parse_ident},
    PgFunction{"pg_partition_ancestors", 1, "TEXT", &array_of_one},
    PgFunction{"split_part", 3, "TEXT", &split_part},
    PgFunction{"string_to_array", 2, "TEXT", &string_to_array},
};

}  // namespace

std::vector<SqlFunction> array_functions() { return sql_functions(kArrayFunctions, true); }

}  // namespace eindb
