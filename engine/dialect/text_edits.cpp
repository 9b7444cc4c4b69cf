#include "engine/dialect/text_edits.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "common/check.hpp"
#include "common/letter_case.hpp"
#include "common/quote_identifier.hpp"
#include "engine/dialect/names.hpp"

namespace eindb::dialect {
namespace {

/// Words that SQLite reserves, and PostgreSQL takes as names of tables and columns.
constexpr std::array<std::string_view, 13> kReservedBySqlite{
    "add",    "alter",   "autoincrement", "commit",      "delete", "drop",  "index",
    "insert", "nothing", "set",           "transaction", "update", "values"};

/// Whether the word belongs to ON DELETE SET NULL and the like.
bool is_of_action(const Token& before, const Token& word) {
  if (word.is_word("delete") || word.is_word("update") || word.is_word("commit")) return before.is_word("on");
  return word.is_word("set") && (before.is_word("delete") || before.is_word("update"));
}

/// A part of the statement as it stands there, with the place of each token.
SqlText copied_text(std::string_view statement, std::size_t begin, std::size_t end) {
  SqlText out;
  Tokenizer tokenizer(statement.substr(0, end), begin, kPostgresRules);
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End); token = tokenizer.next()) {
    out += SqlText(statement.substr(begin, token.span.begin - begin));
    out += SqlText(token.text, static_cast<int>(token.span.begin));
    begin = token.span.end;
    if (token.is(Token::Kind::Unterminated)) break;
  }
  return out + SqlText(statement.substr(begin, end - begin));
}

}  // namespace

Token token_at(std::string_view statement, std::size_t place) {
  return Tokenizer(statement, place, kPostgresRules).next();
}

bool is_reserved_by_sqlite(const Token& token) {
  return token.is(Token::Kind::Word) && std::any_of(kReservedBySqlite.begin(), kReservedBySqlite.end(),
                                                    [&](std::string_view word) { return token.is_word(word); });
}

bool is_edited(std::size_t place, std::span<const TextEdit> edits) {
  return std::any_of(edits.begin(), edits.end(),
                     [&](const TextEdit& edit) { return edit.begin <= place && place < edit.end; });
}

void quote_names(std::string_view statement, std::size_t place, std::vector<TextEdit>& edits) {
  const auto made = edits;
  Tokenizer tokenizer(statement, place, kPostgresRules);
  Token before;
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End) && !token.is(Token::Kind::Unterminated);
       token = tokenizer.next()) {
    if (is_reserved_by_sqlite(token) && !is_of_action(before, token) && !is_edited(token.span.begin, made))
      edits.push_back({token.span.begin, token.span.end, quote_identifier(to_lower(token.text))});
    before = token;
  }
}

void drop_schema(std::string_view statement, std::vector<TextEdit>& edits) {
  const auto made = edits;
  const auto tokens = tokens_of(statement, kPostgresRules);
  for (std::size_t n = 0; n + 1 < tokens.size(); ++n) {
    const bool is_schema = tokens[n].is_word("public") || tokens[n].text == "\"public\"";
    if (is_schema && tokens[n + 1].is_symbol('.') && !is_edited(tokens[n].span.begin, made))
      edits.push_back({tokens[n].span.begin, tokens[n + 1].span.end, ""});
  }
}

SqlText edited(std::string_view statement, std::vector<TextEdit> edits) {
  if (edits.empty()) throw NotTranslated();
  std::stable_sort(edits.begin(), edits.end(), [](const TextEdit& a, const TextEdit& b) { return a.begin < b.begin; });
  SqlText out;
  std::size_t copied = 0;
  for (const auto& [begin, end, text] : edits) {
    CHECK(copied <= begin && begin <= end && end <= statement.size(), "edits follow each other");
    out += copied_text(statement, copied, begin);
    out += text.marks().empty() ? SqlText(text.str(), static_cast<int>(begin)) : text;
    copied = end;
  }
  return out + copied_text(statement, copied, statement.size());
}

}  // namespace eindb::dialect
