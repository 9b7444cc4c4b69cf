// Regular expressions, by RE2: in linear time and bounded memory, whatever the pattern.
#include <re2/re2.h>

#include <array>
#include <memory>
#include <string_view>

#include "common/coded_error.hpp"
#include "engine/sql_functions/pg_values.hpp"
#include "engine/sql_functions/sql_functions.hpp"

namespace eindb {
namespace pg_patterns {  // names that other groups of functions have, too
namespace {

[[noreturn]] void refuse(std::string_view sqlstate, std::string message, std::string hint = {}) {
  throw CodedError(sqlstate, ErrorKind::Value, std::move(message), std::move(hint));
}

/// Whether quantifiers of the pattern ask for as little as possible (*?), and whether others ask for as much.
struct Greed {
  bool lazy = false;
  bool greedy = false;
};

Greed greed_of(std::string_view pattern) {
  Greed found;
  bool in_class = false;
  for (std::size_t n = 0; n < pattern.size(); ++n) {
    const char c = pattern[n];
    if (c == '\\') {
      ++n;
      continue;
    }
    if (in_class) in_class = c != ']';
    else if (c == '[') in_class = true;
    else if (c == '|') found.greedy = true;
    else if (n > 0 && pattern[n - 1] != '(' && (c == '*' || c == '+' || c == '?' || c == '}')) {
      const bool lazy = n + 1 < pattern.size() && pattern[n + 1] == '?';
      (lazy ? found.lazy : found.greedy) = true;
      n += lazy ? 1 : 0;
    }
  }
  return found;
}

/// The letters behind a pattern, as in 'gi'.
struct Flags {
  bool any_case = false;
  bool all = false;
};

Flags flags_of(const std::string& letters) {
  Flags flags;
  for (const char letter : letters) {
    if (letter == 'g') flags.all = true;
    else if (letter == 'i') flags.any_case = true;
    else if (letter == 'c') flags.any_case = false;
    else if (letter != 's') refuse("22023", std::string("invalid regular expression option: \"") + letter + "\"");
  }
  return flags;
}

/// Keeps the last pattern compiled.
class Patterns {
 public:
  const RE2& get(const std::string& pattern, bool any_case = false) {
    if (!compiled_ || pattern_ != pattern || any_case_ != any_case) {
      const auto greed = greed_of(pattern);
      if (greed.lazy && greed.greedy)
        refuse("0A000", "a regular expression with both *? and * (or |) is not supported",
               "quantifiers are all greedy, or all lazy");
      RE2::Options options(RE2::Quiet);
      options.set_case_sensitive(!any_case);
      options.set_max_mem(kMostMemory);
      options.set_dot_nl(true);
      options.set_longest_match(!greed.lazy);  // as POSIX has it: 'ab|abc' takes all of abc
      compiled_ = std::make_unique<RE2>(pattern, options);
      pattern_ = pattern;
      any_case_ = any_case;
    }
    if (!compiled_->ok()) refuse("2201B", "invalid regular expression: " + compiled_->error());
    return *compiled_;
  }

 private:
  static constexpr std::int64_t kMostMemory = 1 << 20;
  std::unique_ptr<RE2> compiled_;
  std::string pattern_;
  bool any_case_ = false;
};

SqlFunction::Body match() {  // pattern, text: for the operator REGEXP
  return [patterns = std::make_shared<Patterns>()](PgValues values) -> SqliteValue {
    if (any_null(values)) return kNull;
    return truth_value(RE2::PartialMatch(text_of(values[1]), patterns->get(text_of(values[0]))));
  };
}

SqlFunction::Body like() {
  return [patterns = std::make_shared<Patterns>()](PgValues values) -> SqliteValue {
    if (any_null(values)) return kNull;
    const auto flags = flags_of(values.size() > 2 ? text_of(values[2]) : "");
    if (flags.all) refuse("22023", "regexp_like() does not support the \"global\" option");
    return truth_value(RE2::PartialMatch(text_of(values[0]), patterns->get(text_of(values[1]), flags.any_case)));
  };
}

/// PostgreSQL's \& is RE2's \0; a backslash before anything else stands for itself.
std::string replacement_of(const std::string& text) {
  std::string out;
  for (std::size_t n = 0; n < text.size(); ++n) {
    const char next = n + 1 < text.size() ? text[n + 1] : ' ';
    if (text[n] != '\\') out += text[n];
    else if (next == '&') out += "\\0", ++n;
    else if (next >= '1' && next <= '9') out += {'\\', next}, ++n;
    else if (next == '\\') out += "\\\\", ++n;
    else out += "\\\\";
  }
  return out;
}

SqlFunction::Body replace() {
  return [patterns = std::make_shared<Patterns>()](PgValues values) -> SqliteValue {
    if (any_null(values)) return kNull;
    const auto flags = flags_of(values.size() > 3 ? text_of(values[3]) : "");
    const auto& pattern = patterns->get(text_of(values[1]), flags.any_case);
    auto text = text_of(values[0]);
    const auto with = replacement_of(text_of(values[2]));
    std::string reason;
    if (!pattern.CheckRewriteString(with, &reason)) refuse("2201B", "invalid replacement: " + reason);
    if (flags.all) RE2::GlobalReplace(&text, pattern, with);
    else RE2::Replace(&text, pattern, with);
    return text;
  };
}

SqlFunction::Body count() {
  return [patterns = std::make_shared<Patterns>()](PgValues values) -> SqliteValue {
    if (any_null(values)) return kNull;
    auto text = text_of(values[0]);
    return integer_value(RE2::GlobalReplace(&text, patterns->get(text_of(values[1])), ""));
  };
}

/// The first match, or the part of it in the first parentheses if `of_group`.
SqlFunction::Body part(bool of_group) {
  return [patterns = std::make_shared<Patterns>(), of_group](PgValues values) -> SqliteValue {
    if (any_null(values)) return kNull;
    const auto text = text_of(values[0]);
    const auto& pattern = patterns->get(text_of(values[1]));
    std::array<re2::StringPiece, 2> found;
    if (!pattern.Match(text, 0, text.size(), RE2::UNANCHORED, found.data(), 2)) return kNull;
    const auto& wanted = found[of_group && pattern.NumberOfCapturingGroups() > 0 ? 1 : 0];
    return wanted.data() == nullptr ? kNull : SqliteValue(std::string(wanted.data(), wanted.size()));
  };
}

std::vector<SqlFunction> all() {
  const auto made = [](const char* name, int arguments, SqlFunction::Body body, const char* result) {
    return SqlFunction{
        .name = name, .arguments = arguments, .body = std::move(body), .deterministic = true, .result = result};
  };
  return {made("regexp", 2, match(), "BOOLEAN"),
          made("pg_regexp_like", 2, like(), "BOOLEAN"),
          made("pg_regexp_like", 3, like(), "BOOLEAN"),
          made("pg_regexp_count", 2, count(), "INTEGER"),
          made("pg_regexp_substr", 2, part(false), "TEXT"),
          made("pg_substring_pattern", 2, part(true), "TEXT"),
          made("regexp_replace", 3, replace(), "TEXT"),
          made("regexp_replace", 4, replace(), "TEXT")};
}

}  // namespace
}  // namespace pg_patterns

std::vector<SqlFunction> pattern_functions() { return pg_patterns::all(); }

}  // namespace eindb
