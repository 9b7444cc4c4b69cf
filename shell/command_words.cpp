#include "shell/command_words.hpp"

#include <algorithm>
#include <cctype>

#include "common/error.hpp"

namespace eindb {

void refuse(const std::string& message, const std::string& hint) {
  throw Error(ErrorKind::Value, message, std::nullopt, hint);
}

std::vector<std::string> split_arguments(std::string_view line) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(" \t\r\n", at)) != std::string_view::npos) {
    const char quote = line[at] == '\'' || line[at] == '"' ? line[at] : '\0';
    const auto begin = quote != '\0' ? at + 1 : at;
    const auto end =
        std::min(quote != '\0' ? line.find(quote, begin) : line.find_first_of(" \t\r\n", begin), line.size());
    words.emplace_back(line.substr(begin, end - begin));
    at = std::min(end + (quote != '\0' ? 1 : 0), line.size());
  }
  return words;
}

std::string in_quotes(const std::string& text, char quote) {
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote) out += quote;
    out += c;
  }
  return out + quote;
}

std::string identifier(const std::string& name) {
  const auto is_plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  const bool plain = std::all_of(name.begin(), name.end(), is_plain) && !name.empty() &&
                     std::isdigit(static_cast<unsigned char>(name[0])) == 0;
  return plain ? name : in_quotes(name, '"');
}

}  // namespace eindb
