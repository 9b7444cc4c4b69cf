#include <algorithm>
#include <array>

#include "common/check.hpp"
#include "common/letter_case.hpp"
#include "engine/sql_types/sql_typer.hpp"

namespace eindb {
namespace {

using Kind = Token::Kind;
using Columns = std::vector<TypedColumn>;

/// Words that may follow a result column and so are not its alias.
constexpr std::array<std::string_view, 11> kFollowsColumn{"FROM",  "WHERE", "GROUP",     "HAVING", "WINDOW", "ORDER",
                                                          "LIMIT", "UNION", "INTERSECT", "EXCEPT", "ON"};
/// Words that may follow a table and so are not its alias.
constexpr std::array<std::string_view, 22> kFollowsTable{
    "WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT", "UNION", "INTERSECT", "EXCEPT",    "NATURAL", "LEFT",
    "RIGHT", "FULL",  "INNER",  "CROSS",  "OUTER", "JOIN",  "ON",    "USING",     "RETURNING", "SET",     "NOT"};
/// Words that begin the clauses of a SELECT after, or without, a FROM.
constexpr std::array<std::string_view, 10> kBehindFrom{"WHERE", "GROUP", "HAVING",    "WINDOW", "ORDER",
                                                       "LIMIT", "UNION", "INTERSECT", "EXCEPT", "RETURNING"};

template <std::size_t N>
bool is_one_of(const Token& token, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return token.is_word(word); });
}

Columns renamed(Columns columns, const std::vector<std::string>& names) {
  if (names.empty()) return columns;
  if (names.size() != columns.size()) throw UnknownSql();
  for (std::size_t n = 0; n < names.size(); ++n) columns[n].name = names[n];
  return columns;
}

void widen(Columns& columns, const Columns& more) {
  if (columns.size() != more.size()) throw UnknownSql();
  for (std::size_t n = 0; n < columns.size(); ++n) {
    columns[n].type = common_type(columns[n].type, more[n].type);
    columns[n].complex = columns[n].complex || more[n].complex;
  }
}

bool same_types(const Columns& a, const Columns& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const TypedColumn& x, const TypedColumn& y) { return x.type == y.type; });
}

}  // namespace

// ---- Whole queries -------------------------------------------------------------------------------------------------

Columns SqlTyper::query(const NameScope* outer, const Columns* targets) {
  const Nesting nesting(*this);
  const auto recursion = std::exchange(recursion_, std::nullopt);
  const auto visible = with_queries_;
  if (reader_.at_word("WITH")) with(outer);
  auto columns = query_core(outer, targets);
  if (recursion) with_queries_[recursion->key] = renamed(columns, recursion->names);
  while (reader_.at_any({"UNION", "INTERSECT", "EXCEPT"})) {
    reader_.take();
    reader_.accept_word("ALL");
    widen(columns, query_core(outer, targets));
  }
  compound_tail(outer, columns);
  with_queries_ = visible;
  return columns;
}

Columns SqlTyper::query_core(const NameScope* outer, const Columns* targets) {
  if (reader_.accept_word("VALUES")) return values(outer, targets);
  reader_.expect_word("SELECT");
  return select(outer, targets);
}

Columns SqlTyper::values(const NameScope* outer, const Columns* targets) {
  const NameScope scope(outer);
  Columns columns;
  std::vector<std::pair<std::size_t, Value>> open;  // parameters, with the numbers of their columns
  bool first = true;
  do {
    reader_.expect_symbol("(");
    const auto row = list(scope);
    reader_.expect_symbol(")");
    for (std::size_t n = 0; first && n < row.size(); ++n)
      columns.push_back({"column" + std::to_string(n + 1), ValueType::Null});
    first = false;
    if (columns.size() != row.size()) throw UnknownSql();
    for (std::size_t n = 0; n < row.size(); ++n) {
      if (targets != nullptr && n < targets->size()) settle(row[n], (*targets)[n].type);
      if (row[n].is_open()) open.emplace_back(n, row[n]);
      else columns[n].type = common_type(columns[n].type, row[n].type);
      columns[n].complex = columns[n].complex || (row[n].complex && !row[n].shown);
    }
  } while (reader_.accept_symbol(","));
  for (const auto& [n, value] : open) settle(value, columns[n].type);
  for (const auto& [n, value] : open) columns[n].type = ValueType::Unknown;
  return columns;
}

// The sources determine the meaning of the names before them, so they are read first.
Columns SqlTyper::select(const NameScope* outer, const Columns* targets) {
  if (!reader_.accept_word("DISTINCT")) reader_.accept_word("ALL");
  const auto begin = reader_.at();
  const auto behind = find_from();
  DCHECK(behind >= begin, "sources stand behind the columns that they tell of");
  NameScope scope(outer);
  reader_.go_to(behind);
  if (reader_.accept_word("FROM")) sources(scope);
  optional_where(scope);
  if (reader_.accept_word("GROUP")) {
    reader_.expect_word("BY");
    list(scope);
  }
  if (const auto& having = reader_.peek(); reader_.accept_word("HAVING")) condition(scope, having);
  while (reader_.accept_word("WINDOW") || reader_.accept_symbol(",")) {
    reader_.expect_name();
    reader_.expect_word("AS");
    reader_.expect_symbol("(");
    reader_.skip_parentheses();
  }
  const auto end = reader_.at();
  reader_.go_to(begin);
  auto columns = result_columns(scope, targets);
  if (reader_.at() != behind) throw UnknownSql();
  reader_.go_to(end);
  return columns;
}

// The end of the result columns: FROM, except in IS DISTINCT FROM.
std::size_t SqlTyper::find_from() const {
  int depth = 0;
  for (std::size_t ahead = 0;; ++ahead) {
    const auto& token = reader_.peek(ahead);
    if (token.is(Kind::End)) return reader_.at() + ahead;
    if (token.is_symbol("(")) ++depth;
    if (token.is_symbol(")") && --depth < 0) return reader_.at() + ahead;
    if (depth > 0) continue;
    if (token.is_symbol(";") || is_one_of(token, kBehindFrom)) return reader_.at() + ahead;
    const bool compares = ahead > 0 && reader_.at_word("DISTINCT", ahead - 1);
    if (token.is_word("FROM") && !compares) return reader_.at() + ahead;
  }
}

void SqlTyper::sort_keys(const NameScope& scope) {
  const auto& order = reader_.take();
  reader_.expect_word("BY");
  do {
    require_real(order, {expression(scope)});
    if (!reader_.accept_word("ASC")) reader_.accept_word("DESC");
    if (reader_.accept_word("NULLS")) reader_.expect_name();
  } while (reader_.accept_symbol(","));
}

// Of other columns than those of the rows nothing is known here.
void SqlTyper::compound_tail(const NameScope* outer, const Columns& columns) {
  NameScope scope(outer);
  scope.add({.name = "", .columns = columns, .known = false});
  if (reader_.at_word("ORDER")) sort_keys(scope);
  if (!reader_.accept_word("LIMIT")) return;
  settle(expression(scope), ValueType::Integer);
  if (reader_.accept_word("OFFSET") || reader_.accept_symbol(",")) settle(expression(scope), ValueType::Integer);
}

// ---- WITH ----------------------------------------------------------------------------------------------------------

void SqlTyper::with(const NameScope* outer) {
  reader_.expect_word("WITH");
  reader_.accept_word("RECURSIVE");
  do {
    with_query(outer);
  } while (reader_.accept_symbol(","));
}

// A query that reads its own rows is read repeatedly until its types no longer change.
void SqlTyper::with_query(const NameScope* outer) {
  const auto name = reader_.expect_name();
  const auto names = reader_.at_symbol("(") ? names_in_parentheses() : std::vector<std::string>();
  reader_.expect_word("AS");
  reader_.accept_word("NOT");
  reader_.accept_word("MATERIALIZED");
  reader_.expect_symbol("(");
  const auto begin = reader_.at();
  const auto key = to_lower(name);
  const bool recursive = mentions(begin, name);
  if (recursive) recursion_ = Recursion{key, names};
  auto columns = renamed(query(outer), names);
  for (bool stable = !recursive; !stable;) {
    with_queries_[key] = columns;
    reader_.go_to(begin);
    auto more = columns;
    widen(more, query(outer));
    stable = same_types(more, columns);
    columns = std::move(more);
  }
  reader_.expect_symbol(")");
  with_queries_[key] = std::move(columns);
}

bool SqlTyper::mentions(std::size_t begin, const std::string& name) const {
  CHECK(begin >= reader_.at(), "a query is looked through from where it begins");
  int depth = 1;
  for (auto ahead = begin - reader_.at();; ++ahead) {
    const auto& token = reader_.peek(ahead);
    if (token.is(Kind::End)) return false;
    if (token.is_symbol("(")) ++depth;
    if (token.is_symbol(")") && --depth == 0) return false;
    if (token.is_name() && equal_ignoring_case(name_of(token), name)) return true;
  }
}

std::vector<std::string> SqlTyper::names_in_parentheses() {
  std::vector<std::string> names;
  reader_.expect_symbol("(");
  do {
    names.push_back(reader_.expect_name());
  } while (reader_.accept_symbol(","));
  reader_.expect_symbol(")");
  return names;
}

// ---- Result columns ------------------------------------------------------------------------------------------------

Columns SqlTyper::result_columns(const NameScope& scope, const Columns* targets) {
  Columns columns;
  do {
    result_column(columns, scope, targets);
  } while (reader_.accept_symbol(","));
  return columns;
}

void SqlTyper::result_column(Columns& columns, const NameScope& scope, const Columns* targets) {
  if (const auto all = star(scope)) {
    columns.insert(columns.end(), all->begin(), all->end());
    return;
  }
  const auto begin = reader_.at();
  const auto value = expression(scope);
  if (targets != nullptr && columns.size() < targets->size()) settle(value, (*targets)[columns.size()].type);
  auto name = result_name(begin);
  if (auto alias = result_alias(); !alias.empty()) name = std::move(alias);
  columns.push_back({.name = std::move(name), .type = value.type, .complex = value.complex && !value.shown});
}

// Reads * or t.*; nullopt if there is neither.
std::optional<Columns> SqlTyper::star(const NameScope& scope) {
  std::string source;
  if (!reader_.at_symbol("*")) {
    const std::size_t star = reader_.at_symbol(".", 3) ? 4 : 2;
    if (!reader_.at_symbol(".", 1) || !reader_.at_symbol("*", star)) return std::nullopt;
    for (std::size_t n = 0; n < star; n += 2) {
      source = reader_.expect_name();
      reader_.take();
    }
  }
  reader_.take();
  auto columns = scope.all(source);
  if (!columns) throw UnknownSql();
  return columns;
}

// The name of a result column without AS: that of the column it shows.
std::string SqlTyper::result_name(std::size_t begin) {
  const auto end = reader_.at();
  reader_.go_to(begin);
  bool is_column = true;
  std::string name;
  while (reader_.at() < end) {
    const auto& token = reader_.take();
    if (token.is_name()) name = name_of(token);
    else if (!token.is_symbol(".")) is_column = false;
  }
  return is_column ? name : "";
}

std::string SqlTyper::result_alias() {
  if (reader_.accept_word("AS")) return reader_.expect_name();
  const auto& token = reader_.peek();
  if (token.is(Kind::QuotedName) || token.is(Kind::String)) return reader_.expect_name();
  if (token.is(Kind::Word) && !is_one_of(token, kFollowsColumn)) return reader_.expect_name();
  return {};
}

// ---- Sources -------------------------------------------------------------------------------------------------------

void SqlTyper::sources(NameScope& scope) {
  const Nesting nesting(*this);
  source(scope);
  while (join(scope)) {
  }
}

// Reads another source after a comma or JOIN; false if there is none.
bool SqlTyper::join(NameScope& scope) {
  if (reader_.accept_symbol(",")) {
    source(scope);
    return true;
  }
  const bool natural = reader_.accept_word("NATURAL");
  while (reader_.at_any({"LEFT", "RIGHT", "FULL", "INNER", "CROSS", "OUTER"})) reader_.take();
  if (!reader_.accept_word("JOIN")) return false;
  source(scope);
  if (natural) scope.join_last_naturally();
  const auto& word = reader_.peek();
  if (reader_.accept_word("ON")) {
    condition(scope, word);
  } else if (reader_.accept_word("USING")) {
    for (const auto& name : names_in_parentheses()) {
      scope.join_last(name);
      require_real_columns(word, {scope.find("", name)});
    }
  }
  return true;
}

void SqlTyper::source(NameScope& scope) {
  if (!reader_.accept_symbol("(")) return scope.add(table(scope));
  if (reader_.at_any({"SELECT", "VALUES", "WITH"})) {
    auto columns = query(scope.outer());
    reader_.expect_symbol(")");
    return scope.add({.name = table_alias(), .columns = std::move(columns), .known = true, .rowids = false});
  }
  sources(scope);
  reader_.expect_symbol(")");
  if (!table_alias().empty()) throw UnknownSql();
}

NamedSource SqlTyper::table(const NameScope& scope) {
  std::string schema;
  auto name = reader_.expect_name();
  if (reader_.accept_symbol(".")) schema = std::exchange(name, reader_.expect_name());
  if (reader_.accept_symbol("(") && !reader_.accept_symbol(")")) {
    list(scope);
    reader_.expect_symbol(")");
  }
  auto columns = columns_of(schema, name);
  const bool known = columns.has_value();
  auto alias = table_alias();
  if (reader_.accept_word("INDEXED")) {
    reader_.expect_word("BY");
    reader_.expect_name();
  } else if (reader_.at_word("NOT") && reader_.at_word("INDEXED", 1)) {
    reader_.take();
    reader_.take();
  }
  return {.name = alias.empty() ? name : std::move(alias),
          .columns = columns ? std::move(*columns) : Columns(),
          .known = known};
}

std::optional<Columns> SqlTyper::columns_of(const std::string& schema, const std::string& name) const {
  if (schema.empty())
    if (const auto found = with_queries_.find(to_lower(name)); found != with_queries_.end()) return found->second;
  return names_.columns(schema, name);
}

std::string SqlTyper::table_alias() {
  if (reader_.accept_word("AS")) return reader_.expect_name();
  const auto& token = reader_.peek();
  if (token.is(Kind::QuotedName) || token.is(Kind::String)) return reader_.expect_name();
  if (!token.is(Kind::Word) || is_one_of(token, kFollowsTable)) return {};
  const bool indexed = token.is_word("INDEXED") && reader_.at_word("BY", 1);
  return indexed ? std::string() : reader_.expect_name();
}

}  // namespace eindb
