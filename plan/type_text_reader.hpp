#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/error.hpp"

namespace eindb {

/// Parses the texts of meshes and distributed types, token by token; blanks between tokens are ignored. Unexpected text
/// is Error{Syntax} with its place.
class TypeTextReader {
 public:
  explicit TypeTextReader(std::string_view text) : text_(text) {}

  /// Takes `mark` if it comes next; returns whether it did.
  bool take(char mark);
  /// Throws if `mark` does not come next; `where` completes the message: "after the size of an axis".
  void expect(char mark, std::string_view where);
  /// Takes a number of at least 0 that fits 63 bits; `what` names it in messages.
  std::int64_t number(std::string_view what);
  /// Takes letters, digits, '_' and '.', not starting with a digit.
  std::string_view name(std::string_view what);
  /// Throws if anything but blanks remains.
  void expect_end();

  /// The place of the last token taken.
  SourceSpan last() const { return last_; }
  /// Throws with the place of the next token.
  [[noreturn]] void fail(const std::string& expected);

 private:
  void skip_blanks();

  std::string_view text_;
  std::size_t at_ = 0;
  SourceSpan last_;
};

}  // namespace eindb
