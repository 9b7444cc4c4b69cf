#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace eindb {

/// Half-open range of byte offsets [begin, end) into the text of a statement.
struct SourceSpan {
  std::size_t begin = 0;
  std::size_t end = 0;

  friend bool operator==(const SourceSpan&, const SourceSpan&) = default;
};

/// A position for users: 1-based line, 1-based column in Unicode code points.
struct SourcePosition {
  std::size_t line = 1;
  std::size_t column = 1;
};

/// The smallest span that covers both.
SourceSpan cover(SourceSpan a, SourceSpan b);

/// The position of a byte offset; an offset past the end gives the position just after the last character.
SourcePosition locate(std::string_view text, std::size_t offset);

/// Two lines of text: the source line of `span`, and carets below the span:
///
///     EINSUM Z[i,k] = SUM(X[i,j] * Q[j,k])
///                                  ^^^^^^
///
/// Long lines are cut around the span. Invalid UTF-8 is shown as '?'.
std::string excerpt(std::string_view text, SourceSpan span);

}  // namespace eindb
