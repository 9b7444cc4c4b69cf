// The first pass of DialectRewriter: sources of rows in FROM.
#include <algorithm>
#include <array>
#include <set>

#include "common/check.hpp"
#include "server/dialect/dialect_rewriter.hpp"

namespace eindb {
namespace {

/// A set-returning function of PostgreSQL in FROM, and the expression whose elements are its rows.
struct TableFunction {
  std::string_view name;
  std::string_view open;  ///< replaces the name and its parenthesis
  std::string_view close;
};

constexpr std::array kTableFunctions{
    TableFunction{"generate_series", "json_each(pg_series(", "))"},
    TableFunction{"pg_partition_ancestors", "json_each(pg_array_json(pg_partition_ancestors(", ")))"},
    TableFunction{"string_to_array", "json_each(json_array(string_to_array(", ")))"},
    TableFunction{"unnest", "json_each(pg_array_json(", "))"},
};

const TableFunction* find_table_function(std::string_view name) {
  const auto* const found = std::find_if(kTableFunctions.begin(), kTableFunctions.end(),
                                         [&](const TableFunction& f) { return equal_ignoring_case(f.name, name); });
  return found == kTableFunctions.end() ? nullptr : found;
}

bool begins_tables(const Token& token) { return token.is_word("FROM") || token.is_word("JOIN"); }

bool ends_tables(const Token& token) {
  constexpr std::array<std::string_view, 15> kWords{"EXCEPT", "GROUP", "HAVING", "INTERSECT", "LIMIT",
                                                    "ON",     "ORDER", "OFFSET", "RETURNING", "SELECT",
                                                    "SET",    "UNION", "USING",  "WHERE",     "WINDOW"};
  return token.is(Token::Kind::Word) &&
         std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) { return token.is_word(word); });
}

bool is_query(const Token& token) {
  return token.is_word("SELECT") || token.is_word("VALUES") || token.is_word("WITH");
}

/// Words that may follow a table and are not its alias.
bool follows_table(const Token& token) {
  constexpr std::array<std::string_view, 6> kJoins{"CROSS", "FULL", "INNER", "LEFT", "NATURAL", "RIGHT"};
  return begins_tables(token) || ends_tables(token) || token.is_word("FOR") || token.is_word("WITH") ||
         std::any_of(kJoins.begin(), kJoins.end(), [&](std::string_view word) { return token.is_word(word); });
}

std::string folded(const Token& token) {
  if (token.is(Token::Kind::QuotedName)) return to_lower(unquote(token));
  return to_lower(token.text);
}

}  // namespace

void DialectRewriter::rewrite_tables() {
  std::vector<bool> in_tables{false};
  for (Index i = 0; i + 1 < tokens_.size(); ++i) {
    const auto& now = token(i);
    const bool takes_table =
        begins_tables(before(i)) || before(i).is_word("LATERAL") || (before(i).is_symbol(',') && in_tables.back());
    if (now.is_symbol('(')) {
      if (token(i + 1).is_word("EINSUM") && match_[i] != kNone) {
        i = match_[i];
        continue;
      }
      if (takes_table && is_query(token(i + 1)) && !before(i).is_word("LATERAL")) rewrite_column_list(i);
      in_tables.push_back(takes_table);
    }
    if (now.is_symbol(')') && in_tables.size() > 1) in_tables.pop_back();
    if (!now.is(Token::Kind::Word)) continue;
    if (begins_tables(now)) in_tables.back() = true;
    if (ends_tables(now)) in_tables.back() = false;
    if (now.is_word("LATERAL")) rewrite_lateral(i);
    const auto& ahead = before(table_begin(i));
    if (begins_tables(ahead) || ahead.is_word("LATERAL") || (ahead.is_symbol(',') && in_tables.back()))
      rewrite_table_function(i);
  }
  rename_elements();
}

/// The first token of a table's name, including its schema.
DialectRewriter::Index DialectRewriter::table_begin(Index name) const {
  const bool qualified = name >= 2 && before(name).is_symbol('.') && before(name, 2).is_word("pg_catalog");
  return qualified ? name - 2 : name;
}

void DialectRewriter::rewrite_table_function(Index name) {
  const auto* const function = find_table_function(token(name).text);
  if (function == nullptr || !token(name + 1).is_symbol('(') || match_[name + 1] == kNone) return;
  const auto close = match_[name + 1];
  CHECK(close > name + 1, "a parenthesis is closed behind where it opens");
  drop(table_begin(name), name + 2);
  replace(name, std::string(function->open));
  replace(close, std::string(function->close));
  uses_catalog_ = true;
  auto after = close + 1;
  if (token(after).is_word("WITH") && token(after + 1).is_word("ORDINALITY")) {
    drop(after, after + 2);
    after += 2;
  }
  name_elements(read_alias(after));
}

/// Rewrites LATERAL (SELECT e) AS a(c) to json_each(json_array(e)) AS a, as SQLite has LATERAL only for table
/// functions.
void DialectRewriter::rewrite_lateral(Index lateral) {
  drop(lateral, lateral + 1);
  const auto open = lateral + 1;
  if (!token(open).is_symbol('(') || !token(open + 1).is_word("SELECT") || match_[open] == kNone) return;
  const auto alias = read_alias(match_[open] + 1);
  if (alias.columns.size() != 1) return;
  replace(open, "json_each(json_array(");
  drop(open + 1, open + 2);
  replace(match_[open], "))");
  name_elements(alias);
}

/// Rewrites (VALUES (1, 2)) AS v(a, b)  ->  (WITH v(a, b) AS (VALUES (1, 2)) SELECT * FROM v) AS v.
void DialectRewriter::rewrite_column_list(Index open) {
  if (match_[open] == kNone) return;
  const auto alias = read_alias(match_[open] + 1);
  if (alias.columns.empty()) return;
  CHECK(alias.name != kNone && alias.list != kNone, "a list of columns stands behind an alias");
  const std::string name(token(alias.name).text);
  const std::string list(source(alias.list, match_[alias.list] + 1));
  replace(open, "(WITH " + name + list + " AS (");
  replace(match_[open], ") SELECT * FROM " + name + ")");
  drop(alias.list, alias.end);
  mark_alias(alias);
}

DialectRewriter::Alias DialectRewriter::read_alias(Index i) const {
  Alias alias;
  if (token(i).is_word("AS")) ++i;
  alias.end = i;
  if (!token(i).is_name() || (token(i).is(Token::Kind::Word) && follows_table(token(i)))) return alias;
  alias.name = i;
  alias.end = i + 1;
  if (!token(i + 1).is_symbol('(') || match_[i + 1] == kNone) return alias;
  alias.list = i + 1;
  alias.end = match_[i + 1] + 1;
  for (auto column = i + 2; column + 1 < alias.end; ++column)
    if (token(column).is_name()) alias.columns.push_back(column);
  return alias;
}

void DialectRewriter::mark_alias(const Alias& alias) {
  if (alias.name != kNone) is_alias_[alias.name] = true;
  for (const auto column : alias.columns) is_alias_[column] = true;
}

/// The columns of json_each are named value and key; the second column belongs to WITH ORDINALITY.
void DialectRewriter::name_elements(const Alias& alias) {
  if (alias.name == kNone) return;
  mark_alias(alias);
  const std::string name(token(alias.name).text);
  const auto table = folded(token(alias.name));
  const auto add = [&](const std::string& column, const std::string& meant) {
    elements_.emplace(column, meant);
    elements_.emplace(table + "." + column, meant);
  };
  if (alias.columns.empty()) return add(table, name + ".value");
  CHECK(alias.list < alias.end, "names of columns stand in parentheses");
  drop(alias.list, alias.end);
  add(folded(token(alias.columns[0])), name + ".value");
  if (alias.columns.size() > 1) add(folded(token(alias.columns[1])), "(" + name + ".key + 1)");
}

void DialectRewriter::rename_elements() {
  if (elements_.empty()) return;
  // An unqualified name that is also the name of another table is not changed.
  std::set<std::string> tables;
  for (Index i = 0; i + 1 < tokens_.size(); ++i)
    if (token(i).is_name() && token(i + 1).is_symbol('.') && !before(i).is_symbol('.')) tables.insert(folded(token(i)));
  for (Index i = 0; i + 1 < tokens_.size(); ++i) {
    const bool is_use = token(i).is_name() && !is_alias_[i] && !edits_[i].replacement && !before(i).is_symbol('.') &&
                        !before(i).is_word("AS") && !token(i + 1).is_symbol('(');
    if (!is_use) continue;
    const auto name = folded(token(i));
    if (token(i + 1).is_symbol('.')) {
      const auto found = elements_.find(name + "." + folded(token(i + 2)));
      if (found == elements_.end()) continue;
      const auto& next = token(i + 3);
      const bool is_column = (before(i).is_word("SELECT") && (next.is_symbol(',') || next.is_word("FROM"))) ||
                             (before(i).is_symbol(',') && next.is_word("FROM"));
      const auto name_kept = is_column ? " AS " + std::string(token(i + 2).text) : std::string();
      drop(i, i + 3);
      replace(i, found->second + name_kept);
    } else if (const auto found = elements_.find(name); found != elements_.end()) {
      if (!tables.contains(name)) replace(i, found->second);
    }
  }
}

}  // namespace eindb
