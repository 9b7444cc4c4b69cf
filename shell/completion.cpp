#include "shell/completion.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "engine/settings/settings.hpp"

namespace eindb {
namespace {

constexpr std::array kWords = {
    "ABS",         "ACOS",     "ACTIVATE",    "ADMIN",       "AGGREGATE",     "AGGREGATES", "ALL",          "ALONG",
    "ALTER",       "ANALYZE",  "AND",         "ANY",         "ARGMAX",        "ARGMIN",     "AS",           "ASIN",
    "ASSOCIATIVE", "ATAN",     "ATAN2",       "ATTACH",      "BEGIN",         "BITXOR",     "BY",           "CASE",
    "CAST",        "CEIL",     "COMMIT",      "COMMUTATIVE", "COMPLEX",       "COMPLEX128", "COMPLEX64",    "CONJ",
    "COPY",        "COS",      "COSH",        "COUNT",       "COUNT_NONZERO", "CREATE",     "CUMLOGSUMEXP", "CUMMAX",
    "CUMMIN",      "CUMPROD",  "CUMSUM",      "DEALLOCATE",  "DELETE",        "DELIMITER",  "DESC",         "DESCRIBE",
    "DETACH",      "DISTINCT", "DISTRIBUTES", "DOUBLE",      "DRAIN",         "DROP",       "EDGE",         "EINSUM",
    "ELSE",        "END",      "ERF",         "EVERY",       "EXECUTE",       "EXISTS",     "EXP",          "EXPLAIN",
    "EXPM1",       "EXTEND",   "FLOAT32",     "FLOAT64",     "FLOOR",         "FORMAT",     "FROM",         "GRADIENT",
    "GRANT",       "GREATEST", "GROUP",       "HAVING",      "HEADER",        "IDEMPOTENT", "IF",           "IMAG",
    "INDEX",       "INFINITY", "INITIAL",     "INSERT",      "INT64",         "INTEGER",    "INTO",         "JOIN",
    "JVP",         "LEAST",    "LIMIT",       "LOG",         "LOG1P",         "LOG2",       "LOGSUMEXP",    "MACRO",
    "MACROS",      "MAX",      "MEAN",        "MIN",         "NAN",           "NORM",       "NOT",          "NULL",
    "OF",          "OFFSET",   "ONLY",        "OR",          "ORDER",         "OVER",       "PAD",          "PARTITION",
    "PASSWORD",    "PATH",     "PI",          "POW",         "PREPARE",       "PROD",       "RANDN",        "RANDOM",
    "READ",        "REAL",     "REFLECT",     "RELU",        "RENAME",        "REPEAT",     "REPLACE",      "REPLICAS",
    "RESET",       "RESPECT",  "RESTRICTED",  "REVOKE",      "ROLLBACK",      "ROUND",      "SCAN",         "SELECT",
    "SET",         "SHOW",     "SIGMOID",     "SIGN",        "SIN",           "SINH",       "SQRT",         "SUM",
    "TABLE",       "TAN",      "TANH",        "TENSOR",      "TENSORS",       "TEXT",       "THEN",         "TO",
    "TRANSACTION", "UNION",    "UNTIL",       "UPDATE",      "USER",          "USERS",      "USING",        "VALUES",
    "VIEW",        "WEIGHT",   "WHEN",        "WHERE",       "WITH",          "WORKER",     "WORKERS",      "WRAP",
    "WRITE",       "XOR",
};

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

/// The words of `text` in upper case, up to where the last one begins that is still typed.
std::vector<std::string> words_before(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (is_word_character(c) || c == '.' || c == '\\') {
      word += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    } else {
      if (!word.empty()) words.push_back(std::exchange(word, {}));
      if (c != ' ' && c != '\t') words.emplace_back(1, c);
    }
  }
  return words;
}

/// Where the path begins that is typed at the end of `before`: after an open quote that follows FROM or TO, or as the
/// argument of a command that takes a file. nullopt elsewhere.
std::optional<std::size_t> path_start(std::string_view before) {
  if (before.starts_with('.') || before.starts_with('\\')) {
    static constexpr std::array kTakesPath = {".read", "\\i", ".open", ".once", ".output", "\\o", ".import", ".backup"};
    const auto command = before.substr(0, before.find_first_of(" \t"));
    if (command.size() == before.size()) return std::nullopt;
    if (std::find(kTakesPath.begin(), kTakesPath.end(), command) == kTakesPath.end()) return std::nullopt;
    return before.find_last_of(" \t'\"") + 1;
  }
  const auto quotes = std::count(before.begin(), before.end(), '\'');
  if (quotes % 2 == 0) return std::nullopt;
  const auto quote = before.rfind('\'');
  const auto words = words_before(std::string(before.substr(0, quote)) + " ");
  if (words.empty() || (words.back() != "FROM" && words.back() != "TO")) return std::nullopt;
  return quote + 1;
}

/// The files and folders whose paths begin with `typed`; none where a folder cannot be read.
std::vector<std::string> paths_from(std::string_view typed) {
  const auto slash = typed.rfind('/');
  const std::string folder(typed.substr(0, slash == std::string_view::npos ? 0 : slash + 1));
  const auto name = typed.substr(folder.size());
  std::vector<std::string> found;
  std::error_code failed;
  std::filesystem::directory_iterator entries(folder.empty() ? "." : folder, failed);
  for (; !failed && entries != std::filesystem::directory_iterator(); entries.increment(failed)) {
    const auto file = entries->path().filename().string();
    if (!file.starts_with(name) || (name.empty() && file.starts_with('.'))) continue;
    std::error_code unknown;
    found.push_back(folder + file + (entries->is_directory(unknown) ? "/" : ""));
  }
  return found;
}

/// Whether a setting is typed at the end of `before`.
bool takes_setting(std::string_view before) {
  const auto words = words_before(before);
  return words.size() == 1 && (words[0] == "SET" || words[0] == "SHOW" || words[0] == "RESET");
}

}  // namespace

Completion::Completion(Names known_words, Names commands)
    : known_words_(std::move(known_words)), commands_(std::move(commands)) {}

std::size_t Completion::word_start(std::string_view before) {
  if (const auto path = path_start(before)) return *path;
  std::size_t start = before.size();
  while (start > 0 && is_word_character(before[start - 1])) --start;
  // The dot or backslash of a command belongs to the word.
  if (start == 1 && (before[0] == '.' || before[0] == '\\')) start = 0;
  return start;
}

std::vector<std::string> Completion::candidates(std::string_view before) const {
  const auto typed = before.substr(word_start(before));
  std::vector<std::string> found;
  const auto offer = [&](const std::string& word) {
    if (starts_with_ignoring_case(word, typed)) found.push_back(word);
  };
  if (path_start(before)) {
    found = paths_from(typed);
  } else if (takes_setting(before.substr(0, before.size() - typed.size()))) {
    static constexpr std::array kShown = {"AGGREGATES", "ALL",     "MACHINE", "MACROS",
                                          "PLAN_CACHE", "TENSORS", "USERS",   "WORKERS"};
    for (const auto& name : Settings::names()) offer(name);
    if (words_before(before).front() == "SHOW")
      for (const auto* word : kShown) offer(in_case_of(typed, word));
  } else if (typed.empty()) {
    return found;
  } else if (typed.front() == '.' || typed.front() == '\\') {
    for (const auto& command : commands_()) offer(command);
  } else {
    for (const auto* word : kWords) offer(in_case_of(typed, word));
    for (const auto& name : known_words_()) offer(name);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::string Completion::common_prefix(const std::vector<std::string>& candidates, Case letters) {
  if (candidates.empty()) return {};
  std::string prefix = candidates.front();
  for (const auto& candidate : candidates) {
    const auto fits = [&] {
      return letters == Case::Counts ? candidate.starts_with(prefix) : starts_with_ignoring_case(candidate, prefix);
    };
    while (!fits()) prefix.pop_back();
  }
  return prefix;
}

Completion::Case Completion::case_of(std::string_view before) {
  return path_start(before) ? Case::Counts : Case::Ignored;
}

std::string Completion::ending(std::string_view before, std::string_view word) {
  const auto path = path_start(before);
  if (!path) return " ";
  if (word.ends_with('/')) return "";
  const char quote = *path > 0 ? before[*path - 1] : ' ';
  return quote == '\'' || quote == '"' ? std::string(1, quote) : " ";
}

}  // namespace eindb
