#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace eindb {

/// The value of a hexadecimal digit of either case; nullopt for any other character.
constexpr std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10U;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10U;
  return std::nullopt;
}

/// Appends hexadecimal digits such as "6162".
void append_hexadecimal(std::string& out, std::string_view bytes);
/// Appends bytes in the text form of PostgreSQL, such as "\x6162".
void append_bytea(std::string& out, std::string_view bytes);

/// The bytes as characters of a text, which need not be UTF-8.
inline std::string_view text_of_bytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace eindb
