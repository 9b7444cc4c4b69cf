#include "security/base64.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <limits>

#include "common/check.hpp"
#include "security/unsigned_bytes.hpp"

namespace eindb {
namespace {

int length_of(std::string_view text) {
  CHECK(text.size() <= std::numeric_limits<int>::max(), "OpenSSL counts bytes in an int");
  return static_cast<int>(text.size());
}

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL appends a zero byte
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), unsigned_bytes(bytes), length_of(bytes));
  text.pop_back();
  return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  if (EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), unsigned_bytes(text), length_of(text)) < 0)
    return std::nullopt;
  // OpenSSL decodes padding as zero bytes, and skips blanks around the text.
  const auto padding = static_cast<std::size_t>(std::count(text.begin(), text.end(), '='));
  if (padding > 2 || padding > bytes.size()) return std::nullopt;
  bytes.resize(bytes.size() - padding);
  if (base64_encode(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace eindb
