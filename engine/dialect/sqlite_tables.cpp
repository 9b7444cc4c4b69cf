#include "engine/dialect/sqlite_tables.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "common/coded_error.hpp"
#include "common/letter_case.hpp"
#include "engine/dialect/translator.hpp"
#include "parser/tokenizer.hpp"

namespace eindb::dialect {
namespace {

constexpr std::array<std::string_view, 8> kTypesOfSqlite{"any",       "blob",  "clob",     "datetime",
                                                         "mediumint", "nchar", "nvarchar", "tinyint"};

template <std::size_t N>
bool is_any_word(const Token& token, const std::array<std::string_view, N>& words) {
  return token.is(Token::Kind::Word) &&
         std::any_of(words.begin(), words.end(), [&](std::string_view word) { return token.is_word(word); });
}

bool begins_table_constraint(const Token& token) {
  constexpr std::array<std::string_view, 5> kWords{"check", "constraint", "foreign", "primary", "unique"};
  return is_any_word(token, kWords);
}

bool begins_column_constraint(const Token& token) {
  constexpr std::array<std::string_view, 11> kWords{"as",  "check", "collate", "constraint", "default", "generated",
                                                    "not", "null",  "primary", "references", "unique"};
  return is_any_word(token, kWords);
}

bool is_known_type(std::string_view name) { return is_type_of_sqlite(name) || type_of_declared(name) != SqlType::Any; }

/// Checks the words of a column's type.
void check_words(const std::vector<Token>& words) {
  std::string name;
  bool known = true;
  const Token* behind = nullptr;  // the first word behind the longest type that is known
  for (const auto& word : words) {
    if (known && !name.empty()) behind = &word;
    name += (name.empty() ? "" : " ") + to_lower(without_quotes(word.text));
    known = is_known_type(name);
    if (known) behind = nullptr;
  }
  if (known) return;
  if (behind != nullptr)
    throw CodedError("42601", ErrorKind::Syntax, "syntax error at or near \"" + std::string(behind->text) + "\"", "",
                     behind->span);
  throw CodedError("42704", ErrorKind::UnknownName, "type \"" + name + "\" does not exist", "", words.front().span);
}

/// The tokens from the list of columns on, or from the column of ALTER TABLE ... ADD on; empty for another statement.
std::vector<Token> tokens_of_columns(std::string_view statement) {
  auto tokens = tokens_of(statement, kPostgresRules);
  auto at = tokens.begin();
  const auto takes = [&](std::string_view word) { return at->is_word(word) && ++at != tokens.end(); };
  if (takes("ALTER")) {
    if (!takes("TABLE")) return {};
    while (at != tokens.end() && !at->is_word("ADD")) ++at;
    if (at == tokens.end() || !takes("ADD")) return {};
    takes("COLUMN");
    return {at, tokens.end()};
  }
  if (!takes("CREATE")) return {};
  if (!takes("TEMP")) takes("TEMPORARY");
  if (!takes("TABLE")) return {};
  if (takes("IF") && takes("NOT")) takes("EXISTS");
  while (at != tokens.end() && (at->is_name() || at->is_symbol('.'))) ++at;
  if (at == tokens.end() || !at->is_symbol('(')) return {};
  return {std::next(at), tokens.end()};
}

}  // namespace

bool is_type_of_sqlite(std::string_view name) {
  const auto plain = name.substr(0, name.find_first_of(" ("));
  return std::find(kTypesOfSqlite.begin(), kTypesOfSqlite.end(), plain) != kTypesOfSqlite.end() &&
         (plain.size() == name.size() || name[plain.size()] == '(' || name.find('(') == plain.size() + 1);
}

void check_table_of_sqlite(std::string_view statement) {
  std::vector<Token> words;
  bool of_type = false;  // whether the words of a column's type are read
  bool at_begin = true;  // of a column or constraint
  int depth = 0;
  for (const auto& token : tokens_of_columns(statement)) {
    const bool is_end = token.is(Token::Kind::End) || token.is(Token::Kind::Unterminated) || token.is_symbol(';');
    const bool ends = depth == 0 && (is_end || token.is_symbol(',') || token.is_symbol(')'));
    depth += token.is_symbol('(') ? 1 : token.is_symbol(')') ? -1 : 0;
    if (of_type && (ends || begins_column_constraint(token))) {
      of_type = false;
      if (!words.empty()) check_words(words);
      words.clear();
    }
    if (is_end || depth < 0) return;
    if (at_begin) of_type = token.is_name() && !begins_table_constraint(token);
    else if (of_type && depth == 0 && token.is_name()) words.push_back(token);
    at_begin = ends;
  }
}

}  // namespace eindb::dialect
