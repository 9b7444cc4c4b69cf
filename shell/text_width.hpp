#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace eindb {

/// Text that is safe on a terminal: control characters become \n, \t or \x1B, invalid UTF-8 becomes U+FFFD. This and
/// display_width need a UTF-8 locale, which main() sets.
std::string printable(std::string_view text);

/// The columns that printable text takes on a terminal: 2 for wide East Asian characters, 0 for combining marks.
std::size_t display_width(std::string_view text);

/// The text itself, or its beginning and `...` in a smaller display width.
std::string shortened(const std::string& text, std::size_t width);

/// The text with blanks before or after it, up to a display width.
std::string padded_left(const std::string& text, std::size_t width);
std::string padded_right(const std::string& text, std::size_t width);

}  // namespace eindb
