#include "parser/bracket_indices.hpp"

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
  std::size_t begin = 1;
  for (std::size_t n = 1; n < bracket.size(); ++n) {
    const auto c = bracket[n];
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
  if (index.find(':') != std::string_view::npos) return BracketIndex::Range;
  if (index.starts_with('-')) index.remove_prefix(1);
  const bool is_number = !index.empty() && index.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number ? BracketIndex::Held : BracketIndex::Label;
}

}  // namespace eindb
