#pragma once

#include <cstdint>
#include <memory>
#include <string>

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace eindb {

/// A certificate of one's own, as files in PEM form.
struct TlsOptions {
  std::string certificate;  ///< followed by those between it and the authority that the others know
  std::string key;          ///< without a passphrase; readable by its owner alone
  std::string authority;    ///< who signs the certificates that others must show; empty: they need none
};

/// Who begins a connection: the client. Nodes of a cluster are both.
enum class TlsSide : std::uint8_t { Server, Client };

/// What all connections with TLS share: version 1.2 or later, the certificate and its key. Nothing is kept between
/// connections (no tickets, no resumption). Thread-safe once it is made.
class TlsContext {
 public:
  /// Reads the files. Error{Io} for one that cannot be read, Error{Value} for what is none of the kind, for a key that
  /// others can read, and for one of another certificate.
  explicit TlsContext(const TlsOptions& options, TlsSide side = TlsSide::Server);

  /// What logins are bound to: security/certificate_hash.hpp.
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
