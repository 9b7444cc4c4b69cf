#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace eindb {

/// Text from a file for a message: at most `longest` bytes, with control characters and invalid UTF-8 written as \xNN.
std::string printable(std::string_view text, std::size_t longest);

/// A name from a file for a message: printable, in quotes, at most 60 bytes.
std::string quoted_name(std::string_view name);

/// The names, quoted, with commas between them; of many the first ten and their number.
std::string name_list(const std::vector<std::string>& names);

/// Chooses one of the arrays in a file: the one named `wanted`, or, if that is empty, the only one. `option` is the
/// format's name for it: "MEMBER". Error{UnknownName} that lists the names, and Error{Value} for a file without arrays.
std::size_t choose_array(const std::string& path, const std::vector<std::string>& names, const std::string& wanted,
                         std::string_view option);

}  // namespace eindb
