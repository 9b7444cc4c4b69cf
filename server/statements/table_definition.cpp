#include "server/statements/table_definition.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "engine/statement_text.hpp"

namespace eindb {
namespace {

/// A column, or a constraint of the table: the tokens between two commas of the definition.
struct DefinitionPart {
  std::size_t first = 0;
  std::size_t end = 0;
};

struct Definition {
  std::vector<Token> tokens;
  std::vector<DefinitionPart> parts;
  std::size_t close = 0;  // the parenthesis behind the parts
};

Definition take_apart(std::string_view created) {
  Definition out{.tokens = tokens_of(created, kSqliteRules), .parts = {}, .close = 0};
  const auto& tokens = out.tokens;
  auto at = std::find_if(tokens.begin(), tokens.end(), [](const Token& token) { return token.is_symbol('('); });
  if (at == tokens.end()) throw Error(ErrorKind::Unsupported, "the table's definition has no list of columns");
  auto n = static_cast<std::size_t>(at - tokens.begin()) + 1;
  auto first = n;
  for (int depth = 1; depth > 0; ++n) {
    const auto& token = tokens[n];
    if (token.is(Token::Kind::End) || token.is(Token::Kind::Unterminated))
      throw Error(ErrorKind::Unsupported, "the table's definition does not end");
    depth += token.is_symbol('(') ? 1 : token.is_symbol(')') ? -1 : 0;
    const bool ends_part = depth == 0 || (depth == 1 && token.is_symbol(','));
    if (!ends_part) continue;
    out.parts.push_back({first, n});
    first = n + 1;
    if (depth == 0) out.close = n;
  }
  CHECK(!out.parts.empty() && tokens[out.close].is_symbol(')'), "the parts of a definition end with its parenthesis");
  return out;
}

bool is_named(const Token& token, std::string_view name) {
  return token.is_name() && equal_ignoring_case(token.is(Token::Kind::QuotedName) ? unquote(token) : token.text, name);
}

bool is_required(const Definition& table, const DefinitionPart& part) {
  for (auto n = part.first; n + 1 < part.end; ++n)
    if (table.tokens[n].is_word("NOT") && table.tokens[n + 1].is_word("NULL")) return true;
  return false;
}

/// The byte behind the column's definition where NOT NULL is missing; nullopt if it is there.
std::optional<std::size_t> missing_not_null(const Definition& table, const std::string& column) {
  const auto part = std::find_if(table.parts.begin(), table.parts.end(), [&](const DefinitionPart& one) {
    return one.first < one.end && is_named(table.tokens[one.first], column);
  });
  if (part == table.parts.end())
    throw CodedError("42703", ErrorKind::UnknownName, "column \"" + column + "\" named in key does not exist");
  if (is_required(table, *part)) return std::nullopt;
  return table.tokens[part->end - 1].span.end;
}

}  // namespace

std::string with_constraint(std::string_view created, std::string_view constraint,
                            std::span<const std::string> required) {
  const auto table = take_apart(created);
  std::vector<std::size_t> places;
  for (const auto& column : required)
    if (const auto place = missing_not_null(table, column)) places.push_back(*place);
  std::sort(places.begin(), places.end());
  std::string out;
  std::size_t copied = 0;
  for (const auto place : places) {
    out += std::string(created.substr(copied, place - copied)) + " NOT NULL";
    copied = place;
  }
  const auto close = table.tokens[table.close].span.begin;
  CHECK(copied <= close, "the columns of a definition stand before its end");
  out += created.substr(copied, close - copied);
  return out + ", " + std::string(constraint) + std::string(created.substr(close));
}

std::string with_new_column(std::string_view created, std::string_view column) {
  const auto table = take_apart(created);
  const auto is_constraint = [&](const DefinitionPart& part) {
    constexpr std::array<std::string_view, 5> kBegins{"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"};
    return part.first < part.end && std::any_of(kBegins.begin(), kBegins.end(), [&](std::string_view word) {
             return table.tokens[part.first].is_word(word);
           });
  };
  const auto constraint = std::find_if(table.parts.begin(), table.parts.end(), is_constraint);
  const auto behind = constraint == table.parts.end()     ? table.tokens[table.close].span.begin
                      : constraint == table.parts.begin() ? table.tokens[constraint->first].span.begin
                                                          : table.tokens[constraint->first - 1].span.begin;
  return std::string(created.substr(0, behind)) + ", " + std::string(column) + std::string(created.substr(behind));
}

std::string with_column(std::string_view created, const std::string& column, bool of_default,
                        const std::optional<std::string>& value) {
  const auto table = take_apart(created);
  const auto part = std::find_if(table.parts.begin(), table.parts.end(), [&](const DefinitionPart& one) {
    return one.first < one.end && is_named(table.tokens[one.first], column);
  });
  if (part == table.parts.end())
    throw CodedError("42703", ErrorKind::UnknownName, "column \"" + column + "\" of the relation does not exist");
  const auto& tokens = table.tokens;
  auto behind = tokens[part->end - 1].span.end;
  std::string out(created.substr(0, behind));
  int depth = 0;
  for (auto n = part->first + 1; n < part->end; ++n) {
    depth += tokens[n].is_symbol('(') ? 1 : tokens[n].is_symbol(')') ? -1 : 0;
    const bool begins = depth == 0 && (of_default ? tokens[n].is_word("DEFAULT")
                                                  : tokens[n].is_word("NOT") && tokens[n + 1].is_word("NULL"));
    if (!begins || (of_default && tokens[n - 1].is_word("SET"))) continue;
    auto last = n + 1;
    if (of_default && tokens[last].is_symbol('(')) {
      for (int open = 1; open > 0;) {
        ++last;
        open += tokens[last].is_symbol('(') ? 1 : tokens[last].is_symbol(')') ? -1 : 0;
      }
    } else if (of_default && (tokens[last].is_symbol('-') || tokens[last].is_symbol('+'))) {
      ++last;
    }
    CHECK(tokens[last].span.end <= behind, "a clause of a column ends where the column does, or before");
    out.erase(tokens[n].span.begin, tokens[last].span.end - tokens[n].span.begin);
    break;
  }
  if (value) out += " " + *value;
  return out + std::string(created.substr(behind));
}

}  // namespace eindb
