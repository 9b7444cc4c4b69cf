// Functions on JSON as text: parts of it, as they are written there.
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "common/check.hpp"
#include "engine/dialect/array_text.hpp"
#include "engine/dialect/literals.hpp"
#include "engine/sql_functions/pg_values.hpp"
#include "engine/sql_functions/sql_functions.hpp"

namespace eindb {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

using Part = std::optional<std::string_view>;

std::size_t skip_space(std::string_view json, std::size_t at) {
  return std::min(json.find_first_not_of(kSpace, at), json.size());
}

std::size_t end_of_string(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at)
    if (json[at] == '\\') ++at;
  return std::min(at + 1, json.size());
}

/// The end of the value that begins at `at`. The text is valid JSON.
std::size_t end_of_value(std::string_view json, std::size_t at) {
  if (at >= json.size()) return json.size();
  if (json[at] == '"') return end_of_string(json, at);
  if (json[at] != '{' && json[at] != '[') return std::min(json.find_first_of(",]} \t\r\n", at), json.size());
  std::size_t depth = 0;
  while (at < json.size()) {
    const char c = json[at];
    if (c == '"') {
      at = end_of_string(json, at);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
    if (depth == 0) break;
  }
  return at;
}

std::string string_of(std::string_view json) { return nlohmann::json::parse(json).get<std::string>(); }

std::string_view without_space(std::string_view json) {
  const auto begin = skip_space(json, 0);
  const auto end = json.find_last_not_of(kSpace);
  return begin >= json.size() ? std::string_view() : json.substr(begin, end + 1 - begin);
}

/// The last member of that name, as PostgreSQL takes it; nullopt for other values than objects.
Part member(std::string_view json, std::string_view name) {
  if (!json.starts_with('{')) return std::nullopt;
  Part found;
  auto at = skip_space(json, 1);
  while (at < json.size() && json[at] == '"') {
    const auto end = end_of_string(json, at);
    const bool wanted = string_of(json.substr(at, end - at)) == name;
    at = skip_space(json, end);
    CHECK(at < json.size() && json[at] == ':', "a member of valid JSON has a value");
    at = skip_space(json, at + 1);
    const auto behind = end_of_value(json, at);
    if (wanted) found = json.substr(at, behind - at);
    at = skip_space(json, behind);
    if (at < json.size() && json[at] == ',') at = skip_space(json, at + 1);
  }
  return found;
}

/// An element by its index from 0, or from the end for negative ones; nullopt for other values than arrays.
Part element(std::string_view json, std::int64_t index) {
  if (!json.starts_with('[')) return std::nullopt;
  std::vector<std::string_view> elements;
  auto at = skip_space(json, 1);
  while (at < json.size() && json[at] != ']') {
    const auto behind = end_of_value(json, at);
    elements.push_back(json.substr(at, behind - at));
    at = skip_space(json, behind);
    if (at < json.size() && json[at] == ',') at = skip_space(json, at + 1);
  }
  const auto count = static_cast<std::int64_t>(elements.size());
  if (index < 0) index += count;
  if (index < 0 || index >= count) return std::nullopt;
  return elements[static_cast<std::size_t>(index)];
}

std::string valid_json(const SqliteValue& value) { return dialect::json_from(text_of(value)); }

SqliteValue json_value(Part part) { return part ? SqliteValue(std::string(*part)) : kNull; }

SqliteValue text_value(Part part) {
  if (!part || *part == "null") return kNull;
  return part->starts_with('"') ? string_of(*part) : std::string(*part);
}

/// json -> 'name', json -> 2
template <SqliteValue (*result)(Part)>
SqliteValue get(PgValues values) {
  if (any_null(values)) return kNull;
  const auto text = valid_json(values[0]);
  const auto json = without_space(text);
  const auto* const index = std::get_if<std::int64_t>(&values[1]);
  return result(index != nullptr ? element(json, *index) : member(json, text_of(values[1])));
}

/// json #> '{name,2}'
template <SqliteValue (*result)(Part)>
SqliteValue follow(PgValues values) {
  if (any_null(values)) return kNull;
  const auto text = valid_json(values[0]);
  Part json = without_space(text);
  for (const auto& step : read_array(text_of(values[1]))) {
    if (!json || !step) return kNull;
    if (json->starts_with('{')) {
      json = member(*json, *step);
      continue;
    }
    std::int64_t index = 0;
    const auto [end, error] = std::from_chars(step->data(), step->data() + step->size(), index);
    if (error != std::errc() || end != step->data() + step->size()) return kNull;
    json = element(*json, index);
  }
  return result(json);
}

SqliteValue checked(PgValues values) { return is_null(values[0]) ? kNull : SqliteValue(valid_json(values[0])); }

constexpr std::array kJsonFunctions{
    PgFunction{"pg_json", 1, "TEXT", &checked},
    PgFunction{"pg_json_get", 2, "TEXT", &get<&json_value>},
    PgFunction{"pg_json_get_text", 2, "TEXT", &get<&text_value>},
    PgFunction{"pg_json_path", 2, "TEXT", &follow<&json_value>},
    PgFunction{"pg_json_path_text", 2, "TEXT", &follow<&text_value>},
};

}  // namespace

std::vector<SqlFunction> json_functions() { return sql_functions(kJsonFunctions, true); }

}  // namespace eindb
