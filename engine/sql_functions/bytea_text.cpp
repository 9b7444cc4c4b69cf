#include "engine/sql_functions/bytea_text.hpp"

#include <algorithm>

#include "common/error.hpp"
#include "common/hexadecimal.hpp"

namespace eindb {
namespace {

[[noreturn]] void fail_bytea(const std::string& what) {
  throw Error(ErrorKind::Value, what, std::nullopt, "bytes are written as hexadecimal digits behind \\x");
}

unsigned digit_of_bytea(char c) {
  if (const auto digit = hex_digit(c)) return *digit;
  fail_bytea("a bytea has a byte that is no hexadecimal digit");
}

std::string read_hexadecimal(std::string_view digits) {
  if (digits.size() % 2 != 0) fail_bytea("a bytea has an odd number of hexadecimal digits");
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t n = 0; n < digits.size(); n += 2)
    bytes += static_cast<char>(digit_of_bytea(digits[n]) << 4U | digit_of_bytea(digits[n + 1]));
  return bytes;
}

bool is_octal(std::string_view digits) {
  return digits.size() == 3 && digits[0] <= '3' && digits.find_first_not_of("01234567") == std::string_view::npos;
}

unsigned octal(std::string_view digits) {
  unsigned value = 0;
  for (const char digit : digits) value = value * 8U + static_cast<unsigned>(digit - '0');
  return value;
}

// A backslash is doubled; any byte may be written as a backslash and three octal digits.
std::string read_escaped(std::string_view text) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      bytes += text[at];
    } else if (text.substr(at + 1, 1) == "\\") {
      bytes += text[++at];
    } else if (const auto digits = text.substr(at + 1, 3); is_octal(digits)) {
      bytes += static_cast<char>(octal(digits));
      at += digits.size();
    } else {
      fail_bytea("a bytea has a backslash with neither another nor three octal digits behind it");
    }
  }
  return bytes;
}

}  // namespace

std::vector<std::byte> bytes_of(std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  std::transform(text.begin(), text.end(), bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

std::string read_bytea(std::string_view text) {
  return text.starts_with("\\x") ? read_hexadecimal(text.substr(2)) : read_escaped(text);
}

}  // namespace eindb
