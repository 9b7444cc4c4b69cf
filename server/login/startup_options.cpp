#include "server/login/startup_options.hpp"

#include <algorithm>

#include "common/error.hpp"

namespace eindb {
namespace {

constexpr std::string_view kSpaces = " \t\n\r\f\v";

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  for (std::size_t n = 0; n < text.size(); ++n) {
    if (kSpaces.find(text[n]) != std::string_view::npos) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (text[n] == '\\' && n + 1 < text.size()) ++n;
    words.back() += text[n];
  }
  return words;
}

[[noreturn]] void refuse(const std::string& option) {
  throw Error(ErrorKind::Value, "the client's options have '" + option + "'", std::nullopt,
              "they are written as in '-c statement_timeout=5s'");
}

// Parses "name=value". As in PostgreSQL, a dash in the name stands for an underscore.
std::pair<std::string, std::string> parse_assignment(const std::string& text) {
  const auto equals = text.find('=');
  auto name = text.substr(0, equals);
  std::replace(name.begin(), name.end(), '-', '_');
  if (equals != std::string::npos && is_name(name)) return {std::move(name), text.substr(equals + 1)};
  refuse(text);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> parse_startup_options(std::string_view options) {
  std::vector<std::pair<std::string, std::string>> assignments;
  const auto words = split_words(options);
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (*word == "-c" && word + 1 != words.end()) assignments.push_back(parse_assignment(*++word));
    else if (word->starts_with("-c") || word->starts_with("--"))
      assignments.push_back(parse_assignment(word->substr(2)));
    else refuse(*word);
  }
  return assignments;
}

}  // namespace eindb
