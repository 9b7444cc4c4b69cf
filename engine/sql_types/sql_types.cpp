#include "engine/sql_types/sql_types.hpp"

#include <algorithm>

#include "common/letter_case.hpp"
#include "engine/sql_types/sql_typer.hpp"
#include "parser/tokenizer.hpp"

namespace eindb {
namespace {

using Columns = std::vector<TypedColumn>;

/// Longer statements are not inferred, as their text is mostly data.
constexpr std::size_t kLongestText = std::size_t{256} << 10U;
/// The number of passes. Types of parameters found in one pass help the next: $1 = $2 AND $2 = n.
constexpr int kMostReadings = 4;

ValueType type_of(const Columns& columns, const std::string& name) {
  for (const auto& column : columns)
    if (equal_ignoring_case(column.name, name)) return column.type;
  return ValueType::Unknown;
}

}  // namespace

Columns SqlTyper::statement() {
  if (reader_.at_word("WITH")) with(nullptr);
  Columns columns;
  if (reader_.at_any({"SELECT", "VALUES"})) columns = query(nullptr);
  else if (reader_.at_any({"INSERT", "REPLACE"})) columns = insert();
  else if (reader_.at_word("UPDATE")) columns = update();
  else if (reader_.accept_word("DELETE")) columns = remove();
  else if (reader_.accept_word("CREATE")) columns = create_view();
  else throw UnknownSql();
  if (!reader_.at_end()) throw UnknownSql();
  return columns;
}

// Reads the table that a statement changes.
NamedSource SqlTyper::target() {
  std::string schema;
  auto name = reader_.expect_name();
  if (reader_.accept_symbol(".")) schema = std::exchange(name, reader_.expect_name());
  auto columns = names_.columns(schema, name);
  if (reader_.accept_word("AS")) name = reader_.expect_name();
  const bool known = columns.has_value();
  return {.name = std::move(name), .columns = known ? std::move(*columns) : Columns(), .known = known};
}

Columns SqlTyper::insert() {
  const auto& word = reader_.take();
  if (reader_.accept_word("OR")) reader_.expect_name();
  reader_.expect_word("INTO");
  const auto changed = target();
  auto targets = changed.columns;
  if (reader_.at_symbol("(")) {
    targets.clear();
    for (const auto& name : names_in_parentheses()) targets.push_back({name, type_of(changed.columns, name)});
  }
  if (reader_.accept_word("DEFAULT")) reader_.expect_word("VALUES");
  else require_real_columns(word, query(nullptr, &targets));
  NameScope scope(nullptr);
  scope.add(changed);
  conflict_clauses(scope, changed.columns);
  return returning(scope);
}

// Reads ON CONFLICT (key) DO UPDATE SET n = excluded.n.
void SqlTyper::conflict_clauses(const NameScope& scope, const Columns& columns) {
  NameScope with_excluded(&scope);
  with_excluded.add({.name = "excluded", .columns = columns});
  while (reader_.accept_word("ON")) {
    reader_.expect_word("CONFLICT");
    if (reader_.accept_symbol("(")) reader_.skip_parentheses();
    optional_where(scope);
    reader_.expect_word("DO");
    if (reader_.accept_word("NOTHING")) continue;
    const auto& update = reader_.take();
    if (!update.is_word("UPDATE")) throw UnknownSql();
    reader_.expect_word("SET");
    assignments(with_excluded, columns, update);
    optional_where(with_excluded);
  }
}

// The sources behind FROM determine the meaning of the names before them, so they are read first.
Columns SqlTyper::update() {
  const auto& word = reader_.take();
  if (reader_.accept_word("OR")) reader_.expect_name();
  const auto changed = target();
  NameScope scope(nullptr);
  scope.add(changed);
  reader_.expect_word("SET");
  NameScope with_more(nullptr);
  with_more.add(changed);
  const auto begin = reader_.at();
  const auto behind = find_from();
  reader_.go_to(behind);
  if (reader_.accept_word("FROM")) sources(with_more);
  const auto end = reader_.at();
  reader_.go_to(begin);
  assignments(with_more, changed.columns, word);
  if (reader_.at() != behind) throw UnknownSql();
  reader_.go_to(end);
  optional_where(with_more);
  return returning(scope);
}

void SqlTyper::assignments(const NameScope& scope, const Columns& columns, const Token& operation) {
  do {
    const bool several = reader_.at_symbol("(");
    const auto type = several ? (names_in_parentheses(), ValueType::Unknown) : type_of(columns, reader_.expect_name());
    reader_.expect_symbol("=");
    const auto value = expression(scope);
    if (!value.shown) require_real(operation, {value});
    settle(value, type);
  } while (reader_.accept_symbol(","));
}

Columns SqlTyper::remove() {
  reader_.expect_word("FROM");
  NameScope scope(nullptr);
  scope.add(target());
  optional_where(scope);
  return returning(scope);
}

void SqlTyper::optional_where(const NameScope& scope) {
  const auto& word = reader_.peek();
  if (reader_.accept_word("WHERE")) condition(scope, word);
}

Columns SqlTyper::returning(const NameScope& scope) {
  if (!reader_.accept_word("RETURNING")) return {};
  return result_columns(scope, nullptr);
}

// Reads CREATE VIEW v (a, b) AS SELECT ... or CREATE TABLE t AS SELECT ...; returns the columns.
Columns SqlTyper::create_view() {
  if (!reader_.accept_word("TEMP")) reader_.accept_word("TEMPORARY");
  const auto& kind = reader_.peek();
  const bool stores = reader_.accept_word("TABLE");
  if (!stores) reader_.expect_word("VIEW");
  if (reader_.accept_word("IF")) {
    reader_.expect_word("NOT");
    reader_.expect_word("EXISTS");
  }
  reader_.expect_name();
  if (reader_.accept_symbol(".")) reader_.expect_name();
  const auto names = reader_.at_symbol("(") ? names_in_parentheses() : std::vector<std::string>();
  reader_.expect_word("AS");
  auto columns = query(nullptr);
  if (stores) require_real_columns(kind, columns);
  if (!names.empty() && names.size() != columns.size()) throw UnknownSql();
  for (std::size_t n = 0; n < names.size(); ++n) columns[n].name = names[n];
  return columns;
}

namespace {

/// Whether the token is well-formed and, if it is a parameter, written as $1, or as :t, the variable of a loop.
bool is_known(const Token& token) {
  if (token.is(Token::Kind::Parameter)) return parameter_number(token.text) != 0;
  return !token.is(Token::Kind::Unterminated) && !token.is(Token::Kind::Malformed) && !token.is_symbol("?") &&
         !token.is_symbol("@");
}

}  // namespace

SqlTypes infer_types(std::string_view sql, const SqlNames& names, std::vector<ValueType> parameters) {
  SqlTypes types{.columns = {}, .parameters = std::move(parameters), .misuse = {}};
  if (sql.size() > kLongestText) return types;
  const auto tokens = tokens_of(sql, kSqliteRules);
  if (!std::all_of(tokens.begin(), tokens.end(), is_known)) return types;
  try {
    auto before = types.parameters;
    for (int reading = 0; reading < kMostReadings; ++reading) {
      const auto columns = SqlTyper(tokens, names, types.parameters, types.misuse).statement();
      types.columns.clear();
      types.complex.clear();
      for (const auto& column : columns) {
        types.columns.push_back(column.type);
        types.complex.push_back(column.complex);
      }
      if (types.parameters == before) break;
      before = types.parameters;
    }
  } catch (const UnknownSql&) {
    types.columns.clear();
    types.complex.clear();
  }
  return types;
}

}  // namespace eindb
