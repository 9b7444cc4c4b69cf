#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace eindb {

/// The bytes of a bytea in text form: "\x6162", or "ab\\c\012" as before PostgreSQL 9. Error{Value} for invalid digits
/// or an invalid escape.
std::string read_bytea(std::string_view text);

std::vector<std::byte> bytes_of(std::string_view text);

}  // namespace eindb
