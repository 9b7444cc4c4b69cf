#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eindb {

/// The settings in a client's parameter `options`, in the syntax of PostgreSQL's command line: "-c name=value",
/// "--name=value". A backslash escapes the next character of a value, for example a space. Error{Value} for any other
/// text.
std::vector<std::pair<std::string, std::string>> parse_startup_options(std::string_view options);

}  // namespace eindb
