#pragma once

#include <cstdint>
#include <memory>
#include <string>

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace eindb {

/// The PEM files of a certificate.
struct TlsOptions {
  std::string certificate;  ///< followed by the intermediate certificates up to a known authority
  std::string key;          ///< without a passphrase; readable only by its owner
  std::string authority;    ///< signs the certificates that peers must present; empty: peers need none
};

/// The role in a TLS handshake: the client begins. Nodes of a cluster have both roles.
enum class TlsSide : std::uint8_t { Server, Client };

/// The configuration shared by all TLS connections: version 1.2 or later, the certificate and its key. Nothing is kept
/// between connections (no tickets, no resumption). Thread-safe once constructed.
class TlsContext {
 public:
  /// Reads the files. Error{Io} if one cannot be read; Error{Value} if one has the wrong content, if others can read
  /// the key, or if the key belongs to another certificate.
  explicit TlsContext(const TlsOptions& options, TlsSide side = TlsSide::Server);

  /// The channel binding of logins: security/certificate_hash.hpp.
  const std::string& certificate_hash() const { return certificate_hash_; }
  ssl_ctx_st* handle() const { return context_.get(); }

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };

  void use_certificate(const std::string& path);
  void use_key(const std::string& path);
  void require_certificates(const std::string& path);

  std::unique_ptr<ssl_ctx_st, Free> context_;
  std::string certificate_hash_;
};

}  // namespace eindb
