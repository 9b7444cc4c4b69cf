#include "server/statements/storage_options.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "common/check.hpp"
#include "common/letter_case.hpp"
#include "engine/statement_text.hpp"

namespace eindb {
namespace {

/// Options of WITH (...) that no answer depends on.
bool is_storage_option(const Token& token) {
  if (!token.is(Token::Kind::Word)) return false;
  const auto word = to_lower(token.text);
  return word == "fillfactor" || word == "parallel_workers" || word.starts_with("autovacuum_") ||
         word.starts_with("toast_");
}

/// The token behind the options in parentheses at `open`; nullopt if one is not known.
std::optional<std::size_t> behind_options(const std::vector<Token>& tokens, std::size_t open) {
  auto n = open + 1;
  while (is_storage_option(tokens[n])) {
    if (!tokens[n + 1].is_symbol('=')) return std::nullopt;
    n += 3;
    if (n >= tokens.size()) return std::nullopt;
    if (tokens[n].is_symbol(')')) return n + 1;
    if (!tokens[n].is_symbol(',')) return std::nullopt;
    ++n;
  }
  return std::nullopt;
}

/// The token behind the clause about storage that begins at `n`; nullopt if none begins there.
std::optional<std::size_t> behind_clause(const std::vector<Token>& tokens, std::size_t n) {
  if (tokens[n].is_word("WITH") && tokens[n + 1].is_symbol('(')) return behind_options(tokens, n + 1);
  if (tokens[n].is_word("TABLESPACE") && tokens[n + 1].is_name()) return n + 2;
  if (tokens[n].is_word("USING") && tokens[n + 1].is_word("heap")) return n + 2;
  return std::nullopt;
}

/// The tokens as far as the end of the list of columns, or of the name where there is none.
std::size_t behind_columns(const std::vector<Token>& tokens, std::size_t n) {
  int depth = 0;
  for (; n + 1 < tokens.size(); ++n) {
    depth += tokens[n].is_symbol('(') ? 1 : tokens[n].is_symbol(')') ? -1 : 0;
    if (depth == 0 && (tokens[n].is_symbol(')') || behind_clause(tokens, n + 1))) return n + 1;
    if (depth == 0 && tokens[n].is_word("AS")) break;
  }
  return tokens.size() - 1;
}

void blank(std::string& text, const Token& first, const Token& last) {
  CHECK(first.span.begin <= last.span.end && last.span.end <= text.size(), "what is left out is a part of the text");
  std::fill(text.begin() + static_cast<std::ptrdiff_t>(first.span.begin),
            text.begin() + static_cast<std::ptrdiff_t>(last.span.end), ' ');
}

}  // namespace

std::string without_storage_options(std::string_view text) {
  std::string out(text);
  Tokenizer tokenizer(text, kPostgresRules);
  if (!tokenizer.next().is_word("CREATE")) return out;
  const auto second = tokenizer.next();
  const bool unlogged = second.is_word("UNLOGGED") && tokenizer.next().is_word("TABLE");
  if (!unlogged && !second.is_word("TABLE")) return out;
  const auto tokens = tokens_of(text, kPostgresRules);
  if (tokens.back().is(Token::Kind::Unterminated)) return out;
  if (unlogged) blank(out, second, second);
  for (auto n = behind_columns(tokens, unlogged ? 3 : 2); n + 1 < tokens.size();) {
    const auto end = behind_clause(tokens, n);
    if (!end) break;
    blank(out, tokens[n], tokens[*end - 1]);
    n = *end;
  }
  return out;
}

}  // namespace eindb
