#include "security/digest.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "common/caught_error.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "security/openssl.hpp"
#include "security/unsigned_bytes.hpp"

namespace eindb {
namespace {

// OpenSSL's parameters take non-const pointers.
OSSL_PARAM parameter(const char* name, std::string_view bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
  return OSSL_PARAM_construct_octet_string(name, const_cast<char*>(bytes.data()), bytes.size());
}

OSSL_PARAM hash_parameter(const char* name) {
  static char sha256[] = "SHA256";  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
  return OSSL_PARAM_construct_utf8_string(name, sha256, sizeof sha256 - 1);
}

/// OpenSSL supports everything requested here, so it can only fail for lack of memory, whatever it reports.
[[noreturn]] void fail() {
  ERR_clear_error();
  throw out_of_memory("a password's hash");
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
  const int done = EVP_Digest(text.data(), text.size(), digest.bytes.data(), nullptr, openssl().sha256, nullptr);
  if (done != 1) fail();
  return digest;
}

Digest hmac_sha256(std::string_view key, std::string_view text) {
  Digest digest;
  const std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> mac(EVP_MAC_CTX_new(openssl().hmac),
                                                                      &EVP_MAC_CTX_free);
  const std::array parameters{hash_parameter(OSSL_MAC_PARAM_DIGEST), OSSL_PARAM_construct_end()};
  std::size_t size = 0;
  if (mac == nullptr || EVP_MAC_init(mac.get(), unsigned_bytes(key), key.size(), parameters.data()) != 1 ||
      EVP_MAC_update(mac.get(), unsigned_bytes(text), text.size()) != 1 ||
      EVP_MAC_final(mac.get(), digest.bytes.data(), &size, Digest::kBytes) != 1)
    fail();
  return digest;
}

Digest pbkdf2_sha256(std::string_view password, std::string_view salt, int iterations) {
  CHECK(iterations > 0, "PBKDF2 iterates");
  Digest digest;
  const std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> derivation(EVP_KDF_CTX_new(openssl().pbkdf2),
                                                                             &EVP_KDF_CTX_free);
  auto count = static_cast<unsigned int>(iterations);
  int any = 1;  // allows any salt and count, as others have chosen some
  const std::array parameters{parameter(OSSL_KDF_PARAM_PASSWORD, password),
                              parameter(OSSL_KDF_PARAM_SALT, salt),
                              OSSL_PARAM_construct_uint(OSSL_KDF_PARAM_ITER, &count),
                              OSSL_PARAM_construct_int(OSSL_KDF_PARAM_PKCS5, &any),
                              hash_parameter(OSSL_KDF_PARAM_DIGEST),
                              OSSL_PARAM_construct_end()};
  if (derivation == nullptr ||
      EVP_KDF_derive(derivation.get(), digest.bytes.data(), Digest::kBytes, parameters.data()) != 1)
    fail();
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
  // Taken from the system directly: OpenSSL's generator allocates memory at its first use, and crashes if there is
  // none.
  for (std::size_t done = 0; done < count;) {
    const auto got = ::getrandom(bytes.data() + done, count - done, 0);
    if (got < 0 && errno != EINTR) throw Error(ErrorKind::Io, "the operating system has no random numbers");
    if (got > 0) done += static_cast<std::size_t>(got);
  }
  return bytes;
}

void wipe(Digest& secret) { OPENSSL_cleanse(secret.bytes.data(), Digest::kBytes); }

void wipe(std::string& secret) { OPENSSL_cleanse(secret.data(), secret.size()); }

}  // namespace eindb
