#include "server/values/client_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "engine/statement_text.hpp"

namespace eindb {
namespace {

constexpr std::uint64_t kEveryByte = 0x0101010101010101;
constexpr std::uint64_t kHighBits = kEveryByte << 7U;

/// Whether one of the eight bytes at `from` is 0 or not ASCII. Subtracting 1 from a zero byte sets its highest bit.
bool has_other_than_ascii(const char* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof(word));
  return (((word - kEveryByte) | word) & kHighBits) != 0;
}

bool is_ascii(std::string_view text) {
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= text.size(); at += sizeof(std::uint64_t))
    if (has_other_than_ascii(text.data() + at)) return false;
  return std::all_of(text.begin() + at, text.end(), [](char c) { return c > 0; });
}

std::string hex(char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return std::string("0x") + kDigits[byte >> 4U] + kDigits[byte & 15U];
}

}  // namespace

void check_client_text(std::string_view text) {
  if (is_ascii(text)) return;
  try {
    check_utf8(text);
  } catch (const Error& error) {
    constexpr std::string_view kCharacterNotInRepertoire = "22021";
    throw CodedError(
        kCharacterNotInRepertoire, ErrorKind::Value,
        "invalid byte sequence for encoding \"UTF8\": " + hex(text[error.span() ? error.span()->begin : 0]));
  }
}

}  // namespace eindb
