#include "parser/bracket_indices.hpp"

#include "parser/tokenizer.hpp"

namespace eindb {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kSpaces);
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(kSpaces) + 1 - first);
}

}  // namespace

std::vector<std::string> bracket_indices(std::string_view bracket) {
  std::vector<std::string> indices;
  int depth = 0;
  char quote = '\0';  // of the text that is open
  std::size_t begin = 1;
  for (std::size_t n = 1; n < bracket.size(); ++n) {
    const auto c = bracket[n];
    if (c == '\'' || c == '"') quote = quote == '\0' ? c : quote == c ? '\0' : quote;
    if (quote != '\0') continue;
    const bool ends = n + 1 == bracket.size() || (c == ',' && depth == 0);
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (!ends) continue;
    indices.emplace_back(trimmed(bracket.substr(begin, n - begin)));
    begin = n + 1;
  }
  return indices;
}

BracketIndex kind_of_index(std::string_view index) {
  const auto token = Tokenizer(index).next();
  const bool is_whole = token.span.end == index.size();
  if (token.is(Token::Kind::String) && is_whole) return BracketIndex::Held;
  if (index.find(':') != std::string_view::npos) return BracketIndex::Range;
  const auto digits = index.starts_with('-') || index.starts_with('$') ? index.substr(1) : index;
  if (!digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos) return BracketIndex::Held;
  const bool is_name = token.is(Token::Kind::Word) || token.is(Token::Kind::QuotedName);
  return is_name && is_whole ? BracketIndex::Label : BracketIndex::Other;
}

}  // namespace eindb
