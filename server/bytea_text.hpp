#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace eindb {

/// "\x6869", or else the bytes themselves. Error{Value} for digits that are none.
std::vector<std::byte> read_bytea(std::string_view text);
/// As \x6869.
void append_bytea(std::string& out, std::string_view bytes);

std::vector<std::byte> bytes_of(std::string_view text);

}  // namespace eindb
