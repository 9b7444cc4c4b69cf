#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

struct pcre2_real_code_8;

namespace eindb::runner {

/// A pattern is no regular expression, or a text takes too many steps.
class PatternError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A regular expression as ECMAScript has them: `[^]` is any character, `.` any but a line's end. Thread-safe.
class Pattern {
 public:
  enum class Case { Matters, Ignored };
  /// Throws PatternError.
  explicit Pattern(std::string_view text, Case letters = Case::Matters);
  /// Whether it matches somewhere in the text. Throws PatternError.
  bool matches_in(std::string_view text) const;

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const noexcept;
  };
  std::unique_ptr<pcre2_real_code_8, Free> code_;
};

}  // namespace eindb::runner
