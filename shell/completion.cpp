#include "shell/completion.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace eindb {
namespace {

constexpr std::array kWords = {"ABS",         "ACOS",       "ADMIN",    "ALL",       "ALONG",      "ALTER",
                               "ANALYZE",     "AND",        "ANY",      "ARGMAX",    "ARGMIN",     "AS",
                               "ASIN",        "ATAN",       "ATAN2",    "BEGIN",     "BY",         "CASE",
                               "CAST",        "CEIL",       "COMMIT",   "COMPLEX",   "COMPLEX128", "COMPLEX64",
                               "CONJ",        "COPY",       "COS",      "COSH",      "COUNT",      "COUNT_NONZERO",
                               "CREATE",      "DEALLOCATE", "DELETE",   "DELIMITER", "DESC",       "DESCRIBE",
                               "DISTINCT",    "DOUBLE",     "DRAIN",    "DROP",      "EINSUM",     "ELSE",
                               "END",         "ERF",        "EVERY",    "EXECUTE",   "EXISTS",     "EXP",
                               "EXPLAIN",     "EXPM1",      "FLOAT32",  "FLOAT64",   "FLOOR",      "FORMAT",
                               "FROM",        "GRADIENT",   "GREATEST", "GROUP",     "HAVING",     "HEADER",
                               "IF",          "IMAG",       "INDEX",    "INFINITY",  "INSERT",     "INT64",
                               "INTEGER",     "INTO",       "JOIN",     "JVP",       "LEAST",      "LIMIT",
                               "LOG",         "LOG1P",      "LOG2",     "LOGSUMEXP", "MACRO",      "MACROS",
                               "MAX",         "MEAN",       "MIN",      "NAN",       "NOT",        "NULL",
                               "OF",          "OFFSET",     "ONLY",     "OR",        "ORDER",      "PARTITION",
                               "PASSWORD",    "PATH",       "PI",       "POW",       "PREPARE",    "PROD",
                               "RANDN",       "RANDOM",     "READ",     "REAL",      "RELU",       "RENAME",
                               "REPEAT",      "REPLACE",    "REPLICAS", "RESET",     "RESPECT",    "ROLLBACK",
                               "ROUND",       "SELECT",     "SET",      "SHOW",      "SIGMOID",    "SIGN",
                               "SIN",         "SINH",       "SQRT",     "SUM",       "TABLE",      "TAN",
                               "TANH",        "TENSOR",     "TENSORS",  "TEXT",      "THEN",       "TO",
                               "TRANSACTION", "UNION",      "UNTIL",    "UPDATE",    "USER",       "USERS",
                               "USING",       "VALUES",     "VIEW",     "WHEN",      "WHERE",      "WITH",
                               "WORKER",      "WORKERS",    "WRITE"};

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & '\x80') != 0;
}

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(), [](char a, char b) { return lower(a) == lower(b); });
}

std::string in_case_of(std::string_view typed, std::string word) {
  const bool is_lower = std::any_of(typed.begin(), typed.end(), [](unsigned char c) { return std::islower(c) != 0; });
  if (is_lower) std::transform(word.begin(), word.end(), word.begin(), lower);
  return word;
}

}  // namespace

Completion::Completion(Names known_words, Names commands)
    : known_words_(std::move(known_words)), commands_(std::move(commands)) {}

std::size_t Completion::word_start(std::string_view before) {
  std::size_t start = before.size();
  while (start > 0 && is_word_character(before[start - 1])) --start;
  // The dot or backslash of a command belongs to the word.
  if (start == 1 && (before[0] == '.' || before[0] == '\\')) start = 0;
  return start;
}

std::vector<std::string> Completion::candidates(std::string_view before) const {
  const auto typed = before.substr(word_start(before));
  std::vector<std::string> found;
  if (typed.empty()) return found;
  const auto offer = [&](const std::string& word) {
    if (starts_with_ignoring_case(word, typed)) found.push_back(word);
  };
  if (typed.front() == '.' || typed.front() == '\\') {
    for (const auto& command : commands_()) offer(command);
  } else {
    for (const auto* word : kWords) offer(in_case_of(typed, word));
    for (const auto& name : known_words_()) offer(name);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::string Completion::common_prefix(const std::vector<std::string>& candidates) {
  if (candidates.empty()) return {};
  std::string prefix = candidates.front();
  for (const auto& candidate : candidates) {
    while (!starts_with_ignoring_case(candidate, prefix)) prefix.pop_back();
  }
  return prefix;
}

}  // namespace eindb
