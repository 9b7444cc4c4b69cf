#include "engine/query/postgres_sql.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "engine/dialect/translate.hpp"
#include "engine/query/query_columns.hpp"
#include "engine/query/stored_query.hpp"
#include "engine/sql/dialect_columns.hpp"
#include "parser/tokenizer.hpp"

namespace eindb {

Error PostgresSql::in_original(const Error& error) const {
  if (!error.span()) return error;
  const auto next = std::upper_bound(parts.begin(), parts.end(), error.span()->begin,
                                     [](std::size_t place, const Part& part) { return place < part.begin; });
  const auto place = next == parts.begin() ? std::nullopt : std::optional(std::prev(next)->original);
  return {error.kind(), error.message(), place, error.hint()};
}

bool may_be_postgres_sql(const Error& of_sqlite) {
  // SQLite takes ARRAY[1, 2] for a column and its alias.
  constexpr std::array<std::string_view, 7> kBegins{"near \"",
                                                    "unrecognized token",
                                                    "no such function: ",
                                                    "wrong number of arguments to function ",
                                                    "unknown parameter ",
                                                    "no such column: ARRAY",
                                                    "no such column: array"};
  const std::string_view message = of_sqlite.message();
  return std::any_of(kBegins.begin(), kBegins.end(), [&](auto begin) { return message.starts_with(begin); });
}

bool may_have_serial(std::string_view sql) {
  constexpr std::array<std::string_view, 6> kSerial{"serial",  "bigserial", "smallserial",
                                                    "serial2", "serial4",   "serial8"};
  constexpr std::array<std::string_view, 5> kNoColumn{"table", "exists", "references", "on", "as"};
  Tokenizer tokenizer(sql, kSqliteRules);
  const auto is_among = [](const Token& token, const auto& words) {
    return token.is(Token::Kind::Word) &&
           std::any_of(words.begin(), words.end(), [&](auto word) { return token.is_word(word); });
  };
  auto before = tokenizer.next();
  if (!before.is_word("CREATE")) return false;
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End) && !token.is(Token::Kind::Unterminated);
       before = token, token = tokenizer.next())
    if (is_among(token, kSerial) && before.is_name() && !is_among(before, kNoColumn)) return true;
  return false;
}

std::optional<PostgresSql> translate_postgres_sql(const std::string& sql, SessionState& session,
                                                  const dialect::Given& given) {
  const SchemaLookups lookups{
      .columns = [&](const std::string& schema,
                     const std::string& table) { return columns_of(session, schema, table); },
      .view_text = [&](const std::string& schema,
                       const std::string& view) { return session.database.sql_names.view_text(schema, view); },
      .query_columns = [&](const std::string& query) { return columns_of_text(query, session); }};
  auto translated = dialect::translate(
      sql,
      [&](const std::string& schema, const std::string& table) { return columns_for_dialect(lookups, schema, table); },
      given);
  if (!translated) return std::nullopt;
  PostgresSql out{.text = translated->text.str(), .column_types = std::move(translated->columns), .parts = {}};
  for (const auto& [at, original] : translated->text.marks()) {
    const auto end = Tokenizer(sql, original, kPostgresRules).next().span.end;
    out.parts.push_back({at, {original, std::max(end, original)}});
  }
  return out;
}

bool runs_inner_sql(const SessionState& session) {
  return session.statement.is_part() && session.user.permissions.policy() != nullptr;
}

std::optional<PostgresSql> translate_inner_sql(const std::string& sql, SessionState& session) {
  dialect::Given given{.converts = true};
  const auto& stated = session.statement.stated_types();
  for (std::size_t n = 0; n < stated.size(); ++n) given.parameters.emplace(n + 1, dialect::type_of_declared(stated[n]));
  for (const auto& variable : session.statement.loop_variables()) given.variables.push_back(variable.name);
  auto translated = translate_postgres_sql(sql, session, given);
  if (!translated) dialect::refuse_other_grammars(sql, given);
  return translated;
}

}  // namespace eindb
