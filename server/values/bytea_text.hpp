#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace eindb {

/// The bytes of a bytea that is written as text: "\x6162", or "ab\\c\012" as before PostgreSQL 9. Error{Value} for
/// digits that are none and for a backslash that begins nothing.
std::string read_bytea(std::string_view text);

/// "6162".
void append_hexadecimal(std::string& out, std::string_view bytes);
/// "\x6162".
void append_bytea(std::string& out, std::string_view bytes);

std::vector<std::byte> bytes_of(std::string_view text);

}  // namespace eindb
