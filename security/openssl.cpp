#include "security/openssl.hpp"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/ssl.h>

#include <cstddef>
#include <new>

#include "common/caught_error.hpp"

namespace eindb {
namespace {

// More than OpenSSL needs for its initialisation, which crashes if an allocation fails.
constexpr std::size_t kBeginningBytes = std::size_t{2} << 20U;

// Never freed, like OpenSSL's own objects.
OpenSsl load() {
  ::operator delete(::operator new(kBeginningBytes));  // checks that this much memory is available
  constexpr auto kOptions = OPENSSL_INIT_LOAD_SSL_STRINGS | OPENSSL_INIT_LOAD_CRYPTO_STRINGS |
                            OPENSSL_INIT_ADD_ALL_CIPHERS | OPENSSL_INIT_ADD_ALL_DIGESTS | OPENSSL_INIT_LOAD_CONFIG;
  const bool begun = OPENSSL_init_ssl(kOptions, nullptr) == 1;
  const OpenSsl found{EVP_MD_fetch(nullptr, "SHA256", nullptr), EVP_MAC_fetch(nullptr, "HMAC", nullptr),
                      EVP_KDF_fetch(nullptr, "PBKDF2", nullptr)};
  if (begun && found.sha256 != nullptr && found.hmac != nullptr && found.pbkdf2 != nullptr) return found;
  ERR_clear_error();
  throw out_of_memory("OpenSSL");
}

}  // namespace

const OpenSsl& openssl() {
  static const auto found = load();
  return found;
}

}  // namespace eindb
