#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/check.hpp"
#include "security/scram_verifier.hpp"

namespace eindb {

/// The server's side of one SCRAM-SHA-256 exchange (RFC 5802, RFC 7677), from message texts to message texts.
///
///     client first   n,,n=,r=rOprNGfw          the server's nonce is the client's with more behind it
///     server first   r=rOprNGfw%hvYDpWU,s=W22ZaJ0S,i=4096
///     client final   c=biws,r=rOprNGfw%hvYDpWU,p=dHzbZapW
///     server final   v=6rriTRBi                which proves that the server knows the verifier
///
/// The user name in the first message is ignored: clients of PostgreSQL leave it empty, since the startup message has
/// it. On a TLS connection the exchange can be bound to the connection (tls-server-end-point of RFC 5929,
/// SCRAM-SHA-256-PLUS), which defeats a man in the middle with another certificate.
///
/// Messages are untrusted: a malformed or overlong message throws ProtocolError. One exchange per login attempt. Not
/// thread-safe; computes for microseconds only.
class ScramExchange {
 public:
  /// Messages of clients have about 200 bytes.
  static constexpr std::size_t kLongestMessage = 1024;

  /// For tests, which need a fixed nonce; otherwise the nonce is random.
  ScramExchange(ScramVerifier verifier, std::string server_nonce)
      : verifier_(std::move(verifier)), server_nonce_(std::move(server_nonce)) {}
  explicit ScramExchange(ScramVerifier verifier);

  /// Switches the exchange to SCRAM-SHA-256-PLUS. The client must send `certificate_hash`.
  void bind_channel(std::string certificate_hash) {
    CHECK(server_first_.empty() && !certificate_hash.empty(), "a channel is bound before an exchange starts");
    certificate_hash_ = std::move(certificate_hash);
  }
  /// Refuses a client that supports channel binding but believes that this server does not: an attacker has misled it.
  void refuse_unbound() {
    CHECK(server_first_.empty(), "what is refused is known before an exchange starts");
    offered_binding_ = true;
  }

  /// Takes the client's first message and returns the server's.
  std::string start(std::string_view client_first);
  /// Takes the client's final message and returns the server's; nullopt if the password is wrong. Call after start().
  std::optional<std::string> finish(std::string_view client_final);

 private:
  void read_channel_flag(std::string_view flag);
  std::string expected_channel_binding() const;
  bool proves_password(const Digest& proof, std::string_view messages) const;

  ScramVerifier verifier_;
  std::string server_nonce_;
  std::string certificate_hash_;  // empty without channel binding
  bool offered_binding_ = false;
  std::string gs2_header_;         // as the client wrote it
  std::string client_first_bare_;  // the message after the header
  std::string nonce_;              // the client's nonce followed by the server's
  std::string server_first_;       // empty before start()
};

}  // namespace eindb
