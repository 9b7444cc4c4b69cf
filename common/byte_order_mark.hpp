#pragma once

#include <string_view>

namespace eindb {

/// The bytes with which some programs begin a text file in UTF-8.
inline constexpr std::string_view kByteOrderMark{"\xEF\xBB\xBF"};

}  // namespace eindb
