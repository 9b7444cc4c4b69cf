#include "security/certificate_hash.hpp"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/x509.h>

#include "common/caught_error.hpp"

namespace eindb {
namespace {

/// The hash function of the certificate's signature; null if it has none.
const EVP_MD* signature_hash(X509& certificate) {
  int hash = NID_undef;
  if (X509_get_signature_info(&certificate, &hash, nullptr, nullptr, nullptr) != 1) return nullptr;
  if (hash == NID_md5 || hash == NID_sha1) return EVP_sha256();
  return hash == NID_undef ? nullptr : EVP_get_digestbynid(hash);
}

}  // namespace

std::string certificate_hash(X509& certificate) {
  const auto* hash = signature_hash(certificate);
  if (hash == nullptr) return {};
  std::string bytes(EVP_MAX_MD_SIZE, '\0');
  unsigned int length = 0;
  const int done = X509_digest(&certificate, hash, reinterpret_cast<unsigned char*>(bytes.data()), &length);
  if (done != 1) {  // of one that it has read
    ERR_clear_error();
    throw out_of_memory("the hash of a certificate");
  }
  bytes.resize(length);
  return bytes;
}

}  // namespace eindb
