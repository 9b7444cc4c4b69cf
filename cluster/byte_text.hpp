#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace eindb {

/// The bytes as text, valid as long as they are. It may be invalid UTF-8.
inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace eindb
