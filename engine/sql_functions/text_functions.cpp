// Functions for text, and casts from text.
#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "common/coded_error.hpp"
#include "engine/dialect/literals.hpp"
#include "engine/dialect/originals.hpp"
#include "engine/sql_functions/bytea_text.hpp"
#include "engine/sql_functions/pg_keywords.hpp"
#include "engine/sql_functions/pg_values.hpp"
#include "engine/sql_functions/sql_functions.hpp"

namespace eindb {
namespace {

// ---- Text and numbers ----------------------------------------------------------------------------------------------

SqliteValue quote_ident(PgValues values) {
  return is_null(values[0]) ? kNull : SqliteValue(pg_identifier(text_of(values[0])));
}
SqliteValue quote_literal(PgValues values) {
  return is_null(values[0]) ? kNull : SqliteValue(pg_literal(text_of(values[0])));
}
SqliteValue quote_nullable(PgValues values) { return is_null(values[0]) ? "NULL" : pg_literal(text_of(values[0])); }

SqliteValue concat(PgValues values) {
  std::string out;
  for (const auto& value : values) out += text_of(value);
  return out;
}

/// Implements trim(side characters from text); the default characters are spaces.
SqliteValue trim_side(PgValues values) {
  if (any_null(values) || values.size() < 2) return kNull;
  const auto side = text_of(values[0]);
  const auto characters = values.size() > 2 ? text_of(values[1]) : " ";
  auto text = text_of(values.back());
  if (side != "trailing") text.erase(0, std::min(text.find_first_not_of(characters), text.size()));
  if (side != "leading") text.erase(text.find_last_not_of(characters) + 1);
  return text;
}

SqliteValue btrim(PgValues values) {
  const SqliteValue side = std::string("both");
  const SqliteValue characters = values.size() > 1 ? values[1] : std::string(" ");
  return trim_side(std::array{side, characters, values[0]});
}

/// The position in the text with `count` characters to its left; a negative `count` counts from the end.
std::size_t cut_after(std::string_view text, std::int64_t count) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) starts.push_back(i);
  const auto size = static_cast<std::int64_t>(starts.size());
  const auto at = std::clamp(count < 0 ? count + size : count, std::int64_t{0}, size);
  return at == size ? text.size() : starts[static_cast<std::size_t>(at)];
}

SqliteValue left(PgValues values) {
  if (any_null(values)) return kNull;
  const auto text = text_of(values[0]);
  return text.substr(0, cut_after(text, integer_of(values[1])));
}

SqliteValue right(PgValues values) {
  if (any_null(values)) return kNull;
  const auto text = text_of(values[0]);
  const auto count = integer_of(values[1]);
  constexpr auto kAll = std::numeric_limits<std::int64_t>::max();
  return count == 0 ? std::string() : text.substr(cut_after(text, count < -kAll ? kAll : -count));
}

SqliteValue strpos(PgValues values) {
  if (any_null(values)) return kNull;
  const auto text = text_of(values[0]);
  const auto at = text.find(text_of(values[1]));
  if (at == std::string::npos) return integer_value(0);
  return std::count_if(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }) +
         1;
}

SqliteValue starts_with(PgValues values) {
  return any_null(values) ? kNull : truth_value(text_of(values[0]).starts_with(text_of(values[1])));
}

SqliteValue size_pretty(PgValues values) {
  if (is_null(values[0])) return kNull;
  constexpr std::array<std::string_view, 6> kUnits{" bytes", " kB", " MB", " GB", " TB", " PB"};
  constexpr std::int64_t kLargest = 10240;
  auto size = integer_of(values[0]);
  std::size_t unit = 0;
  for (; size >= kLargest && unit + 1 < kUnits.size(); ++unit) size = (size + 512) / 1024;
  return std::to_string(size).append(kUnits[unit]);
}

SqliteValue to_bool(PgValues values) {
  if (is_null(values[0])) return kNull;
  if (!std::holds_alternative<std::string>(values[0])) return truth_value(integer_of(values[0]) != 0);
  return truth_value(dialect::truth_from(text_of(values[0])));
}

SqliteValue to_bytea(PgValues values) {
  if (is_null(values[0]) || std::holds_alternative<std::vector<std::byte>>(values[0])) return values[0];
  try {
    return bytes_of(read_bytea(text_of(values[0])));
  } catch (const Error& error) {
    throw CodedError("22P02", error.kind(), error.message(), error.hint());
  }
}

/// Maps public."My table" to My table.
SqliteValue plain_name(PgValues values) {
  if (is_null(values[0])) return kNull;
  const auto name = text_of(values[0]);
  if (name.size() < 2 || name.back() != '"') return name.substr(name.rfind('.') + 1);
  const auto open = name.rfind('"', name.size() - 2);
  return open == std::string::npos ? name : name.substr(open + 1, name.size() - open - 2);
}

/// For 'absent'::regclass.
SqliteValue no_relation(PgValues values) {
  throw CodedError("42P01", ErrorKind::UnknownName, "relation \"" + text_of(values[0]) + "\" does not exist");
}

SqliteValue keywords(PgValues) { return keywords_as_json(); }

/// Implements eindb_view_query('CREATE VIEW v AS SELECT 1'): the query as it was written, with a semicolon as
/// PostgreSQL has it.
SqliteValue view_query(PgValues values) {
  if (is_null(values[0])) return kNull;
  auto query = dialect::query_of_view(text_of(values[0]));
  return query.empty() ? kNull : SqliteValue(query + ";");
}

/// Implements eindb_as_written('a CHECK (pg_...)').
SqliteValue as_written(PgValues values) {
  return is_null(values[0]) ? kNull : SqliteValue(dialect::as_written(text_of(values[0])));
}

constexpr std::array kTextFunctions{
    PgFunction{"eindb_as_written", 1, "TEXT", &as_written},
    PgFunction{"pg_bool", 1, "BOOLEAN", &to_bool},
    PgFunction{"pg_bytea", 1, "BYTEA", &to_bytea},
    PgFunction{"pg_left", 2, "TEXT", &left},
    PgFunction{"pg_right", 2, "TEXT", &right},
    PgFunction{"pg_trim", -1, "TEXT", &trim_side},
    PgFunction{"pg_plain_name", 1, "TEXT", &plain_name},
    PgFunction{"eindb_keywords", 0, "TEXT", &keywords},
    PgFunction{"eindb_no_relation", 1, "", &no_relation},
    PgFunction{"eindb_view_query", 1, "TEXT", &view_query},
    PgFunction{"btrim", 1, "TEXT", &btrim},
    PgFunction{"btrim", 2, "TEXT", &btrim},
    PgFunction{"concat", -1, "TEXT", &concat},
    PgFunction{"pg_size_pretty", 1, "TEXT", &size_pretty},
    PgFunction{"quote_ident", 1, "TEXT", &quote_ident},
    PgFunction{"quote_literal", 1, "TEXT", &quote_literal},
    PgFunction{"quote_nullable", 1, "TEXT", &quote_nullable},
    PgFunction{"starts_with", 2, "BOOLEAN", &starts_with},
    PgFunction{"strpos", 2, "INTEGER", &strpos},
};

}  // namespace

std::vector<SqlFunction> text_functions() { return sql_functions(kTextFunctions, true); }

}  // namespace eindb
