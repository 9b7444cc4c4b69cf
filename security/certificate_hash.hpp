#pragma once

#include <string>

struct x509_st;  // OpenSSL's X509

namespace eindb {

/// The channel binding of a login over TLS: tls-server-end-point of RFC 5929, section 4.1. This is the hash of the
/// certificate by the hash function of its signature, or by SHA-256 if that is MD5 or SHA-1. Empty if the signature has
/// no hash function of its own (Ed25519), a case that the RFC leaves open; then the channel is not bound.
std::string certificate_hash(x509_st& certificate);

}  // namespace eindb
