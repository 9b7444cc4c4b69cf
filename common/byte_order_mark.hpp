#pragma once

#include <string_view>

namespace eindb {

/// What some programs write at the beginning of a text file in UTF-8.
inline constexpr std::string_view kByteOrderMark{"\xEF\xBB\xBF"};

}  // namespace eindb
