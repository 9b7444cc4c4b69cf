#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/login/scram_exchange.hpp"
#include "server/protocol/message_writer.hpp"

namespace eindb {

/// Verifies a client's password: the protocol's messages around a ScramExchange.
///
///     offer()     -> AuthenticationSASL             SCRAM-SHA-256-PLUS (with TLS), SCRAM-SHA-256
///     receive()   SASLInitialResponse               -> AuthenticationSASLContinue
///     receive()   SASLResponse                      -> AuthenticationSASLFinal, if the password is right
///
/// The caller sends AuthenticationOk, or the error that ends the connection. Not thread-safe.
class SaslAuthentication {
 public:
  enum class Outcome : std::uint8_t { Continues, Succeeded, WrongPassword };

  /// `certificate_hash`: security/certificate_hash.hpp of the server's certificate; empty without TLS.
  explicit SaslAuthentication(ScramExchange exchange, std::string certificate_hash = {});

  void offer(MessageWriter& out) const;
  /// Handles the body of a message 'p'. Throws ProtocolError for unexpected messages. After that, and after any outcome
  /// except Continues, the exchange is over.
  Outcome receive(std::string_view body, MessageWriter& out);

 private:
  enum class State : std::uint8_t { Offered, Chosen, Challenged, Over };

  void choose(std::string_view mechanism);
  Outcome challenge(std::string_view client_first, MessageWriter& out);
  Outcome conclude(std::string_view client_final, MessageWriter& out);

  ScramExchange exchange_;
  std::string certificate_hash_;
  State state_ = State::Offered;
};

}  // namespace eindb
