#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/login/scram_exchange.hpp"
#include "server/protocol/message_writer.hpp"

namespace eindb {

/// Asks a client for its password: the messages of the protocol around a ScramExchange.
///
///     offer()     -> AuthenticationSASL             SCRAM-SHA-256-PLUS (with TLS), SCRAM-SHA-256
///     receive()   SASLInitialResponse               -> AuthenticationSASLContinue
///     receive()   SASLResponse                      -> AuthenticationSASLFinal, if the password is right
///
/// AuthenticationOk, or the error and the end of the connection, are the caller's to send. Not thread-safe.
class SaslAuthentication {
 public:
  enum class Outcome : std::uint8_t { Continues, Succeeded, WrongPassword };

  /// `certificate_hash`: security/certificate_hash.hpp of the server's certificate; empty without TLS.
  explicit SaslAuthentication(ScramExchange exchange, std::string certificate_hash = {});

  void offer(MessageWriter& out) const;
  /// The body of a message 'p'. Throws ProtocolError for what is none of the messages expected; the exchange is over
  /// then, as it is after any outcome but Continues.
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
