#include "engine/sql/table_names.hpp"

#include <utility>

#include "parser/table_position.hpp"
#include "parser/tokenizer.hpp"

namespace eindb {

TableNames::TableNames(const ast::Sql& sql) : tokens_(placed_tokens(sql)) {
  for (std::size_t n = 0; n < tokens_.size(); ++n) read(n);
}

std::vector<TableNames::PlacedToken> TableNames::placed_tokens(const ast::Sql& sql) {
  std::vector<PlacedToken> tokens;
  TablePosition position;
  Tokenizer tokenizer(sql.text);
  std::size_t query = 0;
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End) && !token.is(Token::Kind::Unterminated);
       token = tokenizer.next()) {
    if (query < sql.queries.size() && token.span.begin == sql.queries[query].span.begin - sql.span.begin) {
      tokenizer.skip_to(sql.queries[query].span.end - sql.span.begin);
      ++query;
      token = {Token::Kind::QuotedName, "\"\"", token.span};
    }
    tokens.push_back({token, position.takes_table()});
    position.see(token);
  }
  return tokens;
}

TableName TableNames::table_at(std::size_t n) const {
  const bool has_schema = is_symbol(n + 1, ".") && !name_at(n + 2).empty();
  if (!has_schema) return {{}, name_at(n), tokens_[n].token.span};
  return {name_at(n), name_at(n + 2), {tokens_[n].token.span.begin, tokens_[n + 2].token.span.end}};
}

void TableNames::read(std::size_t n) {
  if (name_at(n).empty() || (n > 0 && is_symbol(n - 1, "."))) return;
  if (begins_common(n)) {
    common_.insert(to_lower(name_at(n)));
    return;
  }
  auto table = table_at(n);
  const auto behind = n + (table.schema.empty() ? 1 : 3);
  const bool behind_in = n > 0 && is_word(n - 1, "IN");
  if (tokens_[n].takes_table || behind_in) {
    table.is_listed = !behind_in;
    if (!begins_query(n) && !is_symbol(behind, "(")) tables_.push_back(std::move(table));
  } else if (!table.schema.empty() && is_symbol(behind, ".")) {
    of_columns_.push_back(std::move(table));
  }
}

// WITH a AS (...), b(x) AS NOT MATERIALIZED (...)
bool TableNames::begins_common(std::size_t n) const {
  if (n == 0 || !(is_word(n - 1, "WITH") || is_word(n - 1, "RECURSIVE") || is_symbol(n - 1, ","))) return false;
  auto next = is_symbol(n + 1, "(") ? behind_parenthesis(n + 1) : n + 1;
  if (!is_word(next++, "AS")) return false;
  if (is_word(next, "NOT")) ++next;
  if (is_word(next, "MATERIALIZED")) ++next;
  return is_symbol(next, "(") || (next < tokens_.size() && tokens_[next].token.text == "\"\"");
}

std::size_t TableNames::behind_parenthesis(std::size_t n) const {
  for (int depth = 0; n < tokens_.size(); ++n) {
    if (is_symbol(n, "(")) ++depth;
    if (is_symbol(n, ")") && --depth == 0) return n + 1;
  }
  return n;
}

std::optional<TableName> TableNames::written() const {
  std::size_t n = 0;
  while (is_word(n, "EXPLAIN") || is_word(n, "QUERY") || is_word(n, "PLAN")) ++n;
  const auto is_verb = [&] {
    return is_word(n, "INSERT") || is_word(n, "REPLACE") || is_word(n, "UPDATE") || is_word(n, "DELETE");
  };
  if (is_word(n, "WITH"))
    while (n < tokens_.size() && !is_verb() && !is_word(n, "SELECT"))
      n = is_symbol(n, "(") ? behind_parenthesis(n) : n + 1;
  if (!is_verb()) return std::nullopt;
  if (is_word(++n, "OR")) n += 2;
  if (is_word(n, "INTO") || is_word(n, "FROM")) ++n;
  return name_at(n).empty() ? std::nullopt : std::optional(table_at(n));
}

}  // namespace eindb
