#include "server/statement_kind.hpp"

#include <algorithm>

#include "common/letter_case.hpp"

namespace eindb {
namespace {

struct Word {
  std::string_view word;
  StatementKind kind;
};

constexpr std::array kWords = std::to_array<Word>({
    {"einsum", StatementKind::Einsum},       {"select", StatementKind::Select},
    {"with", StatementKind::Select},         {"values", StatementKind::Select},
    {"show", StatementKind::Setting},        {"describe", StatementKind::Select},
    {"insert", StatementKind::Insert},       {"replace", StatementKind::Insert},
    {"update", StatementKind::Update},       {"delete", StatementKind::Delete},
    {"create", StatementKind::Create},       {"alter", StatementKind::Alter},
    {"drop", StatementKind::Drop},           {"copy", StatementKind::Copy},
    {"explain", StatementKind::Explain},     {"begin", StatementKind::Transaction},
    {"start", StatementKind::Transaction},   {"commit", StatementKind::Transaction},
    {"end", StatementKind::Transaction},     {"rollback", StatementKind::Transaction},
    {"abort", StatementKind::Transaction},   {"savepoint", StatementKind::Transaction},
    {"release", StatementKind::Transaction}, {"set", StatementKind::Setting},
    {"reset", StatementKind::Setting},       {"discard", StatementKind::Setting},
});

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '('; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Behind the comment that `text` begins with, if it does; npos in it: to its end.
std::size_t comment_length(std::string_view text) {
  if (text.starts_with("--")) return std::min(text.find('\n'), text.size());
  if (!text.starts_with("/*")) return 0;
  const auto end = text.find("*/", 2);
  return end == std::string_view::npos ? text.size() : end + 2;
}

std::string_view first_word(std::string_view text) {
  while (!text.empty()) {
    const auto skipped = is_space(text.front()) ? 1 : comment_length(text);
    if (skipped == 0) break;
    text.remove_prefix(skipped);
  }
  const auto* const end = std::find_if_not(text.begin(), text.end(), is_letter);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

}  // namespace

StatementKind statement_kind(std::string_view text) {
  const auto word = first_word(text);
  const auto* const found = std::find_if(kWords.begin(), kWords.end(),
                                         [&](const Word& known) { return equal_ignoring_case(known.word, word); });
  return found == kWords.end() ? StatementKind::Other : found->kind;
}

}  // namespace eindb
