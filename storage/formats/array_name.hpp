#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace eindb {

/// Text from a file for a message: shortened to `longest` bytes, with control characters and bytes that are no UTF-8
/// written as \xNN.
std::string printable(std::string_view text, std::size_t longest);

/// A name from a file for a message: printable, in quotes, shortened to 60 bytes.
std::string quoted_name(std::string_view name);

/// Which of the arrays in a file COPY means: the one of the name `wanted`, or without one the only array there is.
/// `option` is what the format calls it: "MEMBER". Error{UnknownName} that lists the names, and Error{Value} for a file
/// without arrays.
std::size_t choose_array(const std::string& path, const std::vector<std::string>& names, const std::string& wanted,
                         std::string_view option);

}  // namespace eindb
