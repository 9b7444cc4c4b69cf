#include "server/bytea_text.hpp"

#include <algorithm>
#include <charconv>

#include "common/error.hpp"

namespace eindb {

std::vector<std::byte> bytes_of(std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  std::transform(text.begin(), text.end(), bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

std::vector<std::byte> read_bytea(std::string_view text) {
  if (!text.starts_with("\\x")) return bytes_of(text);
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 2; i < text.size(); i += 2) {
    unsigned value = 0;
    const auto* const end = text.data() + std::min(i + 2, text.size());
    const auto [stop, error] = std::from_chars(text.data() + i, end, value, 16);
    if (error != std::errc() || stop != text.data() + i + 2)
      throw Error(ErrorKind::Value, "invalid hexadecimal digits for type bytea");
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

void append_bytea(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\x";
  for (const auto byte : bytes) {
    out += kDigits[static_cast<unsigned char>(byte) >> 4U];
    out += kDigits[static_cast<unsigned char>(byte) & 15U];
  }
}

}  // namespace eindb
