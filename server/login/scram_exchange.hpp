#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/check.hpp"
#include "security/scram_verifier.hpp"

namespace eindb {

/// The server's side of one SCRAM-SHA-256 exchange (RFC 5802, RFC 7677): texts in, texts out.
///
///     client first   n,,n=,r=rOprNGfw          the server's nonce is the client's with more behind it
///     server first   r=rOprNGfw%hvYDpWU,s=W22ZaJ0S,i=4096
///     client final   c=biws,r=rOprNGfw%hvYDpWU,p=dHzbZapW
///     server final   v=6rriTRBi                which proves that the server knows the verifier
///
/// The name in the first message says nothing: clients of PostgreSQL leave it empty, as the startup message has it.
/// Where the connection has TLS, the exchange can be bound to it (tls-server-end-point of RFC 5929,
/// SCRAM-SHA-256-PLUS): somebody in the middle, with a certificate of their own, then gets nowhere.
///
/// Messages come from strangers: what is not of this form, or is longer than any client's, is a ProtocolError. One
/// exchange for one try to log in. Not thread-safe; computes for microseconds only.
class ScramExchange {
 public:
  /// Those of clients have 200 bytes or so.
  static constexpr std::size_t kLongestMessage = 1024;

  /// For tests that know what comes out; else the nonce is made of random bytes.
  ScramExchange(ScramVerifier verifier, std::string server_nonce)
      : verifier_(std::move(verifier)), server_nonce_(std::move(server_nonce)) {}
  explicit ScramExchange(ScramVerifier verifier);

  /// From now on the exchange is one of SCRAM-SHA-256-PLUS: with `certificate_hash`, which the client must name.
  void bind_channel(std::string certificate_hash) {
    CHECK(server_first_.empty() && !certificate_hash.empty(), "a channel is bound before an exchange starts");
    certificate_hash_ = std::move(certificate_hash);
  }
  /// A client that could bind the channel, and believes that this server could not, is deceived by somebody.
  void refuse_unbound() {
    CHECK(server_first_.empty(), "what is refused is known before an exchange starts");
    offered_binding_ = true;
  }

  /// The client's first message; gives the server's.
  std::string start(std::string_view client_first);
  /// The client's final message; gives the server's, or nullopt if the password is wrong. After start().
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
  std::string client_first_bare_;  // what follows it
  std::string nonce_;              // the client's and the server's
  std::string server_first_;       // empty before start()
};

}  // namespace eindb
