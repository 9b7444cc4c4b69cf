#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace eindb {

/// Base64 of RFC 4648, with padding and without line ends.
std::string base64_encode(std::string_view bytes);

/// nullopt unless `text` is exactly what base64_encode returns for some bytes. So there is one text for each sequence
/// of bytes, and nothing can be hidden in line ends or unused bits.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace eindb
