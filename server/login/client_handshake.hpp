#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/user_role.hpp"
#include "engine/settings/login.hpp"
#include "server/login/cancel_key.hpp"
#include "server/login/client_parameters.hpp"
#include "server/login/sasl_authentication.hpp"
#include "server/protocol/frame_reader.hpp"
#include "server/protocol/frontend_message.hpp"
#include "server/protocol/message_writer.hpp"
#include "server/sessions/client_sessions.hpp"

namespace eindb {

/// The identity and the parameters of a client that is admitted.
struct AdmittedClient {
  UserRole role = UserRole::ReadOnly;
  std::string user;
  std::string database;  ///< as the client names it
  ClientParameters parameters;
  std::vector<std::pair<std::string, std::string>> settings;  ///< of the engine, for SET; not checked yet
};

/// The login of a client that sends its password as it is.
struct PlainLogin {
  std::string user;
  std::string password;
  bool encrypted = false;  ///< it comes by TLS
  bool is_local = false;   ///< from this machine; without users others are never trusted
};

/// The beginning of a connection, up to its session or its refusal.
///
///     First --SSLRequest, GSSENCRequest: one byte--> First, encrypted from now on or not
///           --CancelRequest------------------------> over
///           --StartupMessage--> log_in() --> Authentication --the password is right--> admitted()
///                                   '--the database has no users: nobody is asked--------^
///
/// Messages are untrusted: receive() throws ProtocolError for malformed messages and Error for invalid parameters, and
/// stores little. Only log_in() reads the database; a thread that must not wait may call all other functions. Not
/// thread-safe.
class ClientHandshake {
 public:
  enum class Next : std::uint8_t {
    Input,    ///< wait for another message
    Encrypt,  ///< send the output, then begin TLS; the next message is encrypted
    LogIn,    ///< call log_in(); later messages have types
    Admit,    ///< begin the session of admitted()
    Refuse,   ///< end the connection after the output, with a delay that slows down guessing of passwords
    Close     ///< end the connection after the output
  };

  /// `sessions` must outlive the handshake; `address` is the client's, as the throttle counts it.
  ClientHandshake(ClientSessions& sessions, std::string address);

  /// `pending`: number of bytes that the client has sent after the message.
  Next receive(const Frame& frame, std::size_t pending, MessageWriter& out);
  /// Asks for the password of the user that the client names. Throws Error if the database cannot be read.
  Next log_in(MessageWriter& out);

  /// In place of messages, for a client that gives its password as it is: reads the database and checks the password.
  /// Next::Admit, Refuse or Close; `out` gets the error. Throws as log_in() does.
  Next log_in_by(const PlainLogin& login, MessageWriter& out);

  /// Valid after Next::Admit.
  const AdmittedClient& admitted() const { return admitted_; }
  /// After Next::Refuse and Next::Close: the reason, for the server's operator; clients are told less. Empty if the
  /// client is not refused.
  std::string_view refusal_reason() const { return refusal_reason_; }
  /// The key in a CancelRequest.
  const std::optional<CancelKey>& cancel_requested() const { return cancel_requested_; }

 private:
  Next answer_encryption(bool tls, std::size_t pending, MessageWriter& out);
  Next start(const frontend::Startup& startup, MessageWriter& out);
  void take_parameter(std::string_view name, std::string_view value);
  Next authenticate(const Frame& frame, MessageWriter& out);
  Next refuse_without_tls(MessageWriter& out);
  Next refuse_throttled(MessageWriter& out);
  Next conclude(bool right, MessageWriter& out);
  Next refuse(std::string_view reason, std::string_view sqlstate, const std::string& message, MessageWriter& out);

  ClientSessions& sessions_;
  const std::string address_;
  bool encrypted_ = false;
  bool may_be_trusted_ = true;
  // A client may ask once for each.
  bool asked_for_tls_ = false;
  bool asked_for_gss_ = false;
  AdmittedClient admitted_;
  std::optional<Login> login_;
  std::optional<SaslAuthentication> authentication_;  // while it is in progress
  std::optional<LoginThrottle::Refusal> refusal_;
  std::string_view refusal_reason_;
  std::optional<CancelKey> cancel_requested_;
};

}  // namespace eindb
