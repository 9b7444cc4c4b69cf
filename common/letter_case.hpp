#pragma once

#include <string>
#include <string_view>

namespace eindb {

/// The lower case of an ASCII letter; other bytes are unchanged.
inline char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
/// Converts ASCII letters to lower case and leaves other bytes unchanged, in any locale. Used for comparing names.
std::string to_lower(std::string_view text);
/// Converts ASCII letters to upper case and leaves other bytes unchanged.
std::string to_upper(std::string_view text);
/// Whether the texts are equal except for the case of ASCII letters.
bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace eindb
