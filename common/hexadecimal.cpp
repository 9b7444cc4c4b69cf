#include "common/hexadecimal.hpp"

#include <array>

#include "common/check.hpp"

namespace eindb {

void append_hexadecimal(std::string& out, std::string_view bytes) {
  static constexpr auto kDigits = [] {
    constexpr std::string_view kHexadecimal = "0123456789abcdef";
    std::array<std::array<char, 2>, 256> digits{};
    for (std::size_t byte = 0; byte < digits.size(); ++byte)
      digits[byte] = {kHexadecimal[byte >> 4U], kHexadecimal[byte & 15U]};
    return digits;
  }();
  auto at = out.size();
  out.resize(at + 2 * bytes.size());
  for (const auto byte : bytes) {
    const auto& digits = kDigits[static_cast<unsigned char>(byte)];
    out[at++] = digits[0];
    out[at++] = digits[1];
  }
  DCHECK(at == out.size(), "a byte is two digits");
}

void append_bytea(std::string& out, std::string_view bytes) {
  out += "\\x";
  append_hexadecimal(out, bytes);
}

}  // namespace eindb
