#include "parser/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "common/error.hpp"

namespace eindb {
namespace {

std::uint8_t byte_at(std::string_view text, std::size_t offset) { return static_cast<std::uint8_t>(text[offset]); }

bool is_continuation(std::uint8_t byte) { return (byte & 0xC0U) == 0x80U; }

/// The length of a character, given its first byte; 0 for an invalid first byte.
std::size_t length_from(std::uint8_t first) {
  if (first < 0x80U) return 1;
  if (first >= 0xC2U && first < 0xE0U) return 2;
  if (first >= 0xE0U && first < 0xF0U) return 3;
  return first >= 0xF0U && first < 0xF5U ? 4 : 0;
}

char32_t smallest_of_length(std::size_t length) {
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  return kSmallest[length];
}

/// The length of the character at `offset`; nullopt if the bytes are invalid.
std::optional<std::size_t> valid_length(std::string_view text, std::size_t offset) {
  const auto length = length_from(byte_at(text, offset));
  if (length == 0 || length > text.size() - offset) return std::nullopt;
  for (std::size_t i = 1; i < length; ++i)
    if (!is_continuation(byte_at(text, offset + i))) return std::nullopt;
  const auto value = decode_utf8(text, offset).value;
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < smallest_of_length(length) || value > 0x10FFFF || surrogate) return std::nullopt;
  return length;
}

/// The offset of the first byte that is 0 or begins no character; the text's size if there is none.
std::size_t valid_end(std::string_view text) {
  std::size_t offset = 0;
  while (offset < text.size() && text[offset] != '\0') {
    const auto length = valid_length(text, offset);
    if (!length) break;
    offset += *length;
  }
  return offset;
}

struct Block {
  char32_t first;
  char32_t last;
};

constexpr std::array kNoLetters = {
    Block{0x80, 0xA9},     Block{0xAB, 0xB4},       Block{0xB6, 0xB9},        Block{0xBB, 0xBF},
    Block{0xD7, 0xD7},     Block{0xF7, 0xF7},       Block{0x2000, 0x2070},    Block{0x2072, 0x207E},
    Block{0x2080, 0x208F}, Block{0x20A0, 0x20CF},   Block{0x2190, 0x2BFF},    Block{0x2E00, 0x2E7F},
    Block{0x3000, 0x3004}, Block{0x3008, 0x3020},   Block{0x3030, 0x3030},    Block{0xE000, 0xF8FF},
    Block{0xFE10, 0xFE1F}, Block{0xFE30, 0xFE6F},   Block{0xFEFF, 0xFEFF},    Block{0xFF00, 0xFF0F},
    Block{0xFFE0, 0xFFFF}, Block{0x1F000, 0x1FAFF}, Block{0xE0000, 0x10FFFF},
};

}  // namespace

CodePoint decode_utf8(std::string_view text, std::size_t offset) {
  const auto first = byte_at(text, offset);
  const auto length = length_from(first);
  if (length <= 1) return {first, 1};
  char32_t value = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) value = (value << 6U) | (byte_at(text, offset + i) & 0x3FU);
  return {value, length};
}

void check_utf8(std::string_view text) {
  const auto offset = valid_end(text);
  if (offset == text.size()) return;
  const SourceSpan here{offset, offset + 1};
  if (text[offset] == '\0') throw Error(ErrorKind::Syntax, "a zero byte in the text of a statement", here);
  throw Error(ErrorKind::Syntax, "invalid UTF-8", here, "save the text as UTF-8");
}

bool is_utf8(std::string_view text) { return valid_end(text) == text.size(); }

std::string replace_invalid_utf8(std::string_view text) {
  std::string valid;
  for (auto end = valid_end(text); end < text.size(); end = valid_end(text)) {
    valid.append(text.substr(0, end)).append("\xEF\xBF\xBD");
    text.remove_prefix(end + 1);
  }
  return valid.append(text);
}

bool starts_identifier(char32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  return std::none_of(kNoLetters.begin(), kNoLetters.end(),
                      [c](const Block& block) { return c >= block.first && c <= block.last; });
}

bool continues_identifier(char32_t c) { return (c >= '0' && c <= '9') || starts_identifier(c); }

}  // namespace eindb
