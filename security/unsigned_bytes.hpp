#pragma once

#include <string_view>

namespace eindb {

/// The bytes of a text in OpenSSL's type; valid as long as the text.
inline const unsigned char* unsigned_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace eindb
