#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace eindb {

/// Splits a line of the shell into words separated by blanks; 'single' or "double" quotes protect blanks.
std::vector<std::string> split_arguments(std::string_view line);

/// An identifier or a text in SQL syntax: within quotes, with inner ones doubled.
std::string in_quotes(const std::string& text, char quote);
/// A name in SQL syntax, quoted only if necessary.
std::string identifier(const std::string& name);

/// Throws Error{Value}.
[[noreturn]] void refuse(const std::string& message, const std::string& hint);

}  // namespace eindb
