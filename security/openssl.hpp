#pragma once

struct evp_md_st;   // OpenSSL's EVP_MD
struct evp_mac_st;  // OpenSSL's EVP_MAC
struct evp_kdf_st;  // OpenSSL's EVP_KDF

namespace eindb {

/// What eindb takes from OpenSSL, found once: to look an algorithm up takes memory, the first time most of all.
struct OpenSsl {
  evp_md_st* sha256;
  evp_mac_st* hmac;
  evp_kdf_st* pbkdf2;
};

/// OpenSSL, with its configuration and algorithms loaded by the first call: where it finds no memory while it begins it
/// does not begin later either, or crashes. So sessions and nodes make that call when they begin, before there is much
/// to do. Error{MemoryLimit} if there is no memory. Thread-safe.
const OpenSsl& openssl();

}  // namespace eindb
