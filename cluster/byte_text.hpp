#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace eindb {

/// The same bytes as text. It lives as long as they do, and may be no UTF-8.
inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace eindb
