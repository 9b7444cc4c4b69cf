#include "security/digest.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <limits>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

int length_of(std::string_view text) {
  CHECK(text.size() <= std::numeric_limits<int>::max(), "OpenSSL counts bytes in an int");
  return static_cast<int>(text.size());
}

}  // namespace

Digest Digest::of(std::string_view view) {
  CHECK(view.size() == kBytes, "a digest has 32 bytes");
  Digest digest;
  std::copy(view.begin(), view.end(), digest.bytes.begin());
  return digest;
}

Digest sha256(std::string_view text) {
  Digest digest;
  const int done = EVP_Digest(text.data(), text.size(), digest.bytes.data(), nullptr, EVP_sha256(), nullptr);
  CHECK(done == 1, "OpenSSL has SHA-256");
  return digest;
}

Digest hmac_sha256(std::string_view key, std::string_view text) {
  Digest digest;
  const auto* done =
      HMAC(EVP_sha256(), key.data(), length_of(key), bytes_of(text), text.size(), digest.bytes.data(), nullptr);
  CHECK(done != nullptr, "OpenSSL has HMAC-SHA-256");
  return digest;
}

Digest pbkdf2_sha256(std::string_view password, std::string_view salt, int iterations) {
  CHECK(iterations > 0, "PBKDF2 iterates");
  Digest digest;
  const int done = PKCS5_PBKDF2_HMAC(password.data(), length_of(password), bytes_of(salt), length_of(salt), iterations,
                                     EVP_sha256(), static_cast<int>(Digest::kBytes), digest.bytes.data());
  CHECK(done == 1, "OpenSSL has PBKDF2");
  return digest;
}

Digest exclusive_or(const Digest& a, const Digest& b) {
  Digest result;
  for (std::size_t n = 0; n < Digest::kBytes; ++n)
    result.bytes[n] = static_cast<unsigned char>(a.bytes[n] ^ b.bytes[n]);
  return result;
}

bool equal_in_constant_time(const Digest& a, const Digest& b) {
  return CRYPTO_memcmp(a.bytes.data(), b.bytes.data(), Digest::kBytes) == 0;
}

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), length_of(bytes)) != 1)
    throw Error(ErrorKind::Io, "the operating system has no random numbers");
  return bytes;
}

void wipe(Digest& secret) { OPENSSL_cleanse(secret.bytes.data(), Digest::kBytes); }

void wipe(std::string& secret) { OPENSSL_cleanse(secret.data(), secret.size()); }

}  // namespace eindb
