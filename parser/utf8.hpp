#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace eindb {

/// One character of a text: its code point and its length in bytes.
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 1;
};

/// Decodes the character at `offset` (< text.size()) of a text accepted by check_utf8.
CodePoint decode_utf8(std::string_view text, std::size_t offset);

/// Throws Error{Syntax} at the first byte that is invalid UTF-8 (overlong forms and surrogates are invalid), or that is
/// 0, where SQLite would end the text.
void check_utf8(std::string_view text);
/// Whether check_utf8 accepts the text.
bool is_utf8(std::string_view text);
/// The text with U+FFFD in place of each byte that check_utf8 rejects.
std::string replace_invalid_utf8(std::string_view text);

/// Whether a character may start a name: '_' and letters of any script. Beyond Latin-1 this is decided by blocks:
/// characters in Unicode's blocks for spaces, punctuation, symbols, private use and emoji are no letters, all others
/// are.
bool starts_identifier(char32_t c);
/// The same, or a digit.
bool continues_identifier(char32_t c);

}  // namespace eindb
