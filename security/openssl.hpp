#pragma once

struct evp_md_st;   // OpenSSL's EVP_MD
struct evp_mac_st;  // OpenSSL's EVP_MAC
struct evp_kdf_st;  // OpenSSL's EVP_KDF

namespace eindb {

/// The algorithms that eindb uses from OpenSSL. They are looked up once, since a look-up allocates memory, most of all
/// the first.
struct OpenSsl {
  evp_md_st* sha256;
  evp_mac_st* hmac;
  evp_kdf_st* pbkdf2;
};

/// Initialises OpenSSL, with its configuration and algorithms, at the first call. If OpenSSL gets no memory during
/// initialisation, it never works later, or crashes. So sessions and nodes make this call when they start.
/// Error{MemoryLimit} if there is no memory. Thread-safe.
const OpenSsl& openssl();

}  // namespace eindb
