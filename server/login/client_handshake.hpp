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

/// Who a client is, and what it said of itself.
struct AdmittedClient {
  UserRole role = UserRole::ReadOnly;
  std::string user;
  std::string database;  ///< as the client calls it
  ClientParameters parameters;
  std::vector<std::pair<std::string, std::string>> settings;  ///< of the engine, by SET; not checked yet
};

/// The beginning of a connection, up to the session or the refusal of one.
///
///     First --SSLRequest, GSSENCRequest: one byte--> First, encrypted from now on or not
///           --CancelRequest------------------------> over
///           --StartupMessage--> log_in() --> Authentication --the password is right--> admitted()
///                                   '--the database has no users: nobody is asked--------^
///
/// Messages come from strangers: receive() throws ProtocolError for what is none, Error for parameters that cannot be,
/// and keeps little of them. Only log_in() reads the database: all else may be called by a thread that must not wait.
/// Not thread-safe.
class ClientHandshake {
 public:
  enum class Next : std::uint8_t {
    Input,    ///< another message is to come
    Encrypt,  ///< TLS begins after what is written: what is received next has come through it
    LogIn,    ///< log_in() is to be called; messages have types from now on
    Admit,    ///< as admitted() says
    Refuse,   ///< the connection ends after what is written, but not at once: who tries passwords is to wait
    Close     ///< the connection ends after what is written
  };

  /// `sessions` outlives the handshake; `address` is the client's, as the throttle counts it.
  ClientHandshake(ClientSessions& sessions, std::string address);

  /// `pending`: bytes that the client has sent behind the message.
  Next receive(const Frame& frame, std::size_t pending, MessageWriter& out);
  /// Asks for the password of the user that the client says it is. Throws Error if the database cannot be read.
  Next log_in(MessageWriter& out);

  /// After Next::Admit.
  const AdmittedClient& admitted() const { return admitted_; }
  /// After Next::Refuse and Next::Close, why, for those who run the server: clients are told less. Empty if the client
  /// is not refused.
  std::string_view refusal_reason() const { return refusal_reason_; }
  /// What a CancelRequest asked for.
  const std::optional<CancelKey>& cancel_requested() const { return cancel_requested_; }

 private:
  Next answer_encryption(bool tls, std::size_t pending, MessageWriter& out);
  Next start(const frontend::Startup& startup, MessageWriter& out);
  void take_parameter(std::string_view name, std::string_view value);
  Next authenticate(const Frame& frame, MessageWriter& out);
  Next refuse(std::string_view reason, std::string_view sqlstate, const std::string& message, MessageWriter& out);

  ClientSessions& sessions_;
  const std::string address_;
  bool encrypted_ = false;
  // A client asks once for each.
  bool asked_for_tls_ = false;
  bool asked_for_gss_ = false;
  AdmittedClient admitted_;
  std::optional<Login> login_;
  std::optional<SaslAuthentication> authentication_;  // while it goes on
  std::optional<LoginThrottle::Refusal> refusal_;
  std::string_view refusal_reason_;
  std::optional<CancelKey> cancel_requested_;
};

}  // namespace eindb
