#include "engine/dialect/sql_type.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "common/letter_case.hpp"

namespace eindb::dialect {
namespace {

struct NamedType {
  std::string_view name;
  SqlType type;
};

constexpr std::array kTypes{
    NamedType{"bigint", SqlType::Integer},
    NamedType{"bigserial", SqlType::Integer},
    NamedType{"bool", SqlType::Bool},
    NamedType{"boolean", SqlType::Bool},
    NamedType{"bpchar", SqlType::Text},
    NamedType{"bytea", SqlType::Bytea},
    NamedType{"cardinal_number", SqlType::Integer},
    NamedType{"char", SqlType::Text},
    NamedType{"character", SqlType::Text},
    NamedType{"character varying", SqlType::Text},
    NamedType{"character_data", SqlType::Text},
    NamedType{"cid", SqlType::Integer},
    NamedType{"date", SqlType::Date},
    NamedType{"decimal", SqlType::Numeric},
    NamedType{"double", SqlType::Float},
    NamedType{"double precision", SqlType::Float},
    NamedType{"float", SqlType::Float},
    NamedType{"float4", SqlType::Float},
    NamedType{"float8", SqlType::Float},
    NamedType{"int", SqlType::Integer},
    NamedType{"int2", SqlType::Integer},
    NamedType{"int2vector", SqlType::Array},
    NamedType{"int4", SqlType::Integer},
    NamedType{"int8", SqlType::Integer},
    NamedType{"integer", SqlType::Integer},
    NamedType{"interval", SqlType::Interval},
    NamedType{"json", SqlType::Json},
    NamedType{"json text", SqlType::Json},  // what CREATE TABLE makes of json
    NamedType{"jsonb", SqlType::Json},
    NamedType{"jsonb text", SqlType::Json},
    NamedType{"name", SqlType::Text},
    NamedType{"numeric", SqlType::Numeric},
    NamedType{"oid", SqlType::Integer},
    NamedType{"real", SqlType::Float},
    NamedType{"serial", SqlType::Integer},
    NamedType{"serial2", SqlType::Integer},
    NamedType{"serial4", SqlType::Integer},
    NamedType{"serial8", SqlType::Integer},
    NamedType{"smallint", SqlType::Integer},
    NamedType{"smallserial", SqlType::Integer},
    NamedType{"sql_identifier", SqlType::Text},
    NamedType{"text", SqlType::Text},
    NamedType{"time", SqlType::Time},
    NamedType{"time without time zone", SqlType::Time},
    NamedType{"timestamp", SqlType::Timestamp},
    NamedType{"timestamp with time zone", SqlType::TimestampTz},
    NamedType{"timestamp without time zone", SqlType::Timestamp},
    NamedType{"timestamptz", SqlType::TimestampTz},
    NamedType{"uuid", SqlType::Uuid},
    NamedType{"varchar", SqlType::Text},
    NamedType{"xid", SqlType::Integer},
    NamedType{"yes_or_no", SqlType::Text},
};
static_assert(std::is_sorted(kTypes.begin(), kTypes.end(),
                             [](const NamedType& a, const NamedType& b) { return a.name < b.name; }));

/// "VARCHAR (20)" as "varchar", "timestamp(3) with time zone" as "timestamp with time zone".
std::string without_modifiers(std::string_view declared) {
  std::string name;
  int depth = 0;
  for (const char c : declared) {
    if (c == '(') ++depth;
    if (depth == 0 && (c != ' ' || (!name.empty() && name.back() != ' '))) name += c;
    if (c == ')') --depth;
  }
  while (name.ends_with(' ')) name.pop_back();
  return to_lower(name);
}

}  // namespace

std::string_view name_of(SqlType type) {
  switch (type) {
    case SqlType::Unknown: return "unknown";
    case SqlType::Any: return "any type";
    case SqlType::Bool: return "boolean";
    case SqlType::Integer: return "bigint";
    case SqlType::Numeric: return "numeric";
    case SqlType::Float: return "double precision";
    case SqlType::Text: return "text";
    case SqlType::Date: return "date";
    case SqlType::Time: return "time without time zone";
    case SqlType::Timestamp: return "timestamp without time zone";
    case SqlType::TimestampTz: return "timestamp with time zone";
    case SqlType::Interval: return "interval";
    case SqlType::Uuid: return "uuid";
    case SqlType::Bytea: return "bytea";
    case SqlType::Json: return "json";
    case SqlType::Array: return "array";
    case SqlType::Complex: return "complex";
  }
  return "unknown";
}

SqlType type_named(std::string_view name) {
  const auto* const found = std::lower_bound(kTypes.begin(), kTypes.end(), name,
                                             [](const NamedType& known, std::string_view n) { return known.name < n; });
  return found == kTypes.end() || found->name != name ? SqlType::Any : found->type;
}

std::string_view without_quotes(std::string_view declared) {
  const bool is_quoted = declared.size() > 1 && declared.front() == '"' && declared.back() == '"';
  return is_quoted ? declared.substr(1, declared.size() - 2) : declared;
}

SqlType type_of_declared(std::string_view declared) {
  declared = without_quotes(declared);
  if (declared.ends_with("[]")) return SqlType::Array;
  return type_named(without_modifiers(declared));
}

std::vector<std::int64_t> modifiers_of(std::string_view declared) {
  std::vector<std::int64_t> out;
  auto at = declared.find('(');
  while (at != std::string_view::npos && at + 1 < declared.size()) {
    auto rest = declared.substr(at + 1);
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    std::int64_t value = 0;
    if (std::from_chars(rest.data(), rest.data() + rest.size(), value).ec != std::errc()) return {};
    out.push_back(value);
    at = declared.find(',', at + 1);
  }
  return out;
}

std::optional<std::int64_t> padded_width(std::string_view declared) {
  const auto name = without_modifiers(without_quotes(declared));
  if (name != "char" && name != "character" && name != "bpchar") return std::nullopt;
  const auto modifiers = modifiers_of(declared);
  if (!modifiers.empty()) return modifiers[0];
  return name == "bpchar" ? std::nullopt : std::optional<std::int64_t>(1);
}

}  // namespace eindb::dialect
