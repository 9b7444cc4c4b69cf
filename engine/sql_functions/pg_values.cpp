#include "engine/sql_functions/pg_values.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/check.hpp"
#include "engine/sql_functions/pg_keywords.hpp"

namespace eindb {

/// The text to which SQLite would cast the value; bytes are read as characters.
std::string text_of(const SqliteValue& value) {
  struct ToText {
    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return nlohmann::json(number).dump(); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const std::vector<std::byte>& bytes) const {
      return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
  };
  return std::visit(ToText{}, value);
}

std::int64_t integer_of(const SqliteValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* real = std::get_if<double>(&value))
    return std::abs(*real) < 9e18 ? static_cast<std::int64_t>(*real) : 0;
  const auto text = text_of(value);
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string pg_identifier(const std::string& name) {
  const bool plain = !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
                     name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == std::string::npos &&
                     !must_be_quoted(name);
  if (plain) return name;
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string pg_literal(const std::string& text) {
  std::string out = text.find('\\') == std::string::npos ? "'" : "E'";
  for (const char c : text) out += c == '\'' || c == '\\' ? std::string(2, c) : std::string(1, c);
  return out + "'";
}

bool any_null(PgValues values) { return std::any_of(values.begin(), values.end(), is_null); }

std::vector<SqlFunction> sql_functions(std::span<const PgFunction> functions, bool deterministic) {
  std::vector<SqlFunction> made;
  for (const auto& [name, arguments, result, body, of_reals] : functions) {
    DCHECK(name != nullptr && result != nullptr && body != nullptr, "a function has a name and does something");
    made.push_back({.name = name,
                    .arguments = arguments,
                    .body = SqlFunction::Body(body),
                    .deterministic = deterministic,
                    .result = result,
                    .of_reals = of_reals});
  }
  return made;
}

}  // namespace eindb
