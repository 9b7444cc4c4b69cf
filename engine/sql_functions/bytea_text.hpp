#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace eindb {

/// The bytes of a bytea in text form: "\x6162", or "ab\\c\012" as before PostgreSQL 9. Error{Value} for invalid digits
/// or an invalid escape.
std::string read_bytea(std::string_view text);

/// Appends hexadecimal digits such as "6162".
void append_hexadecimal(std::string& out, std::string_view bytes);
/// Appends a text such as "\x6162".
void append_bytea(std::string& out, std::string_view bytes);

std::vector<std::byte> bytes_of(std::string_view text);
/// The bytes as characters of a text, which need not be UTF-8.
inline std::string_view text_of_bytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace eindb
