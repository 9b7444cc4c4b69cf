#pragma once

#include <string>
#include <string_view>

namespace eindb {

/// An ASCII letter in lower case; any other byte as it is.
inline char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
/// ASCII letters in lower case; all other bytes as they are. Names are compared so, whatever the locale.
std::string to_lower(std::string_view text);
/// ASCII letters in upper case; all other bytes as they are.
std::string to_upper(std::string_view text);
/// Equal but for the case of ASCII letters.
bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace eindb
