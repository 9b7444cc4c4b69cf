#pragma once

#include <string>

struct x509_st;  // OpenSSL's X509

namespace eindb {

/// What a login is bound to on a connection with TLS: tls-server-end-point of RFC 5929, section 4.1, the hash of the
/// certificate by the hash function of its signature, or by SHA-256 where that is MD5 or SHA-1. Empty for certificates
/// whose signature has none of its own (Ed25519), for which the RFC says nothing: then the channel is not bound.
std::string certificate_hash(x509_st& certificate);

}  // namespace eindb
