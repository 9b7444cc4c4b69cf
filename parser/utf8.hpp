#pragma once

#include <cstddef>
#include <string_view>

namespace eindb {

/// One character of a text: its code point and how many bytes it takes.
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 1;
};

/// The character at `offset` (< text.size()) of a text that check_utf8 has accepted.
CodePoint decode_utf8(std::string_view text, std::size_t offset);

/// Throws Error{Syntax} at the first byte that is no UTF-8 (overlong forms and surrogates are none), or that is 0:
/// SQLite would end the text there.
void check_utf8(std::string_view text);
/// Whether check_utf8 accepts the text.
bool is_utf8(std::string_view text);

/// Whether a character may start a name: '_' and letters of any script. Beyond Latin-1 this is by blocks: what Unicode
/// keeps for spaces, punctuation, symbols, private use and emoji is no letter, everything else is.
bool starts_identifier(char32_t c);
/// As above, or a digit.
bool continues_identifier(char32_t c);

}  // namespace eindb
