#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/error.hpp"

namespace eindb {

/// Reads the texts of meshes and distributed types, piece by piece; blanks between pieces do not matter. What does not
/// fit is Error{Syntax} with its place.
class TypeTextReader {
 public:
  explicit TypeTextReader(std::string_view text) : text_(text) {}

  /// Whether `mark` comes next; takes it.
  bool take(char mark);
  /// Throws if `mark` does not come next; `where` says after what it was expected: "after the size of an axis".
  void expect(char mark, std::string_view where);
  /// A number of at least 0 that fits 63 bits; `what` names it in messages.
  std::int64_t number(std::string_view what);
  /// Letters, digits, '_' and '.', not beginning with a digit.
  std::string_view name(std::string_view what);
  /// Throws if anything but blanks is left.
  void expect_end();

  /// The place of what was taken last.
  SourceSpan last() const { return last_; }
  /// Throws about what comes next.
  [[noreturn]] void fail(const std::string& expected);

 private:
  void skip_blanks();

  std::string_view text_;
  std::size_t at_ = 0;
  SourceSpan last_;
};

}  // namespace eindb
