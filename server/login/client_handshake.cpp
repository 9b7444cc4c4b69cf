#include "server/login/client_handshake.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/check.hpp"
#include "engine/settings/settings.hpp"
#include "security/digest.hpp"
#include "security/scram_verifier.hpp"
#include "server/login/error_response.hpp"
#include "server/login/startup_options.hpp"
#include "server/protocol/protocol_error.hpp"

namespace eindb {
namespace {

constexpr std::string_view kWrongPassword = "28P01";
constexpr std::string_view kInvalidAuthorization = "28000";

// The server implements version 3.0 without protocol options.
void negotiate_version(const frontend::Startup& startup, MessageWriter& out) {
  std::vector<std::string_view> unknown;
  for (const auto& [name, value] : startup.parameters)
    if (name.starts_with("_pq_.")) unknown.push_back(name);
  if (startup.minor == 0 && unknown.empty()) return;
  out.begin('v').integer<std::int32_t>(0).integer(static_cast<std::int32_t>(unknown.size()));
  for (const auto name : unknown) out.text(name);
  out.end();
}

}  // namespace

ClientHandshake::ClientHandshake(ClientSessions& sessions, std::string address)
    : sessions_(sessions), address_(std::move(address)) {
  admitted_.parameters = ClientParameters(sessions.limits.idle);
}

ClientHandshake::Next ClientHandshake::receive(const Frame& frame, std::size_t pending, MessageWriter& out) {
  if (authentication_) return authenticate(frame, out);
  const auto first = frontend::parse_first(frame);
  if (const auto* startup = std::get_if<frontend::Startup>(&first)) return start(*startup, out);
  if (const auto* cancel = std::get_if<frontend::CancelRequest>(&first)) {
    cancel_requested_ = CancelKey{cancel->process, cancel->secret};
    return Next::Close;
  }
  return answer_encryption(std::holds_alternative<frontend::SslRequest>(first), pending, out);
}

// Answers with one byte; the client then begins TLS, continues in clear text, or leaves. Bytes sent before the answer
// are refused, since an attacker in between may have sent them.
ClientHandshake::Next ClientHandshake::answer_encryption(bool tls, std::size_t pending, MessageWriter& out) {
  auto& asked = tls ? asked_for_tls_ : asked_for_gss_;
  if (encrypted_ || std::exchange(asked, true)) throw ProtocolError("the client asks for encryption again");
  if (pending > 0) throw ProtocolError("a request for encryption has something behind it");
  encrypted_ = tls && sessions_.rules.offers_tls;
  out.bytes(encrypted_ ? "S" : "N");
  return encrypted_ ? Next::Encrypt : Next::Input;
}

ClientHandshake::Next ClientHandshake::start(const frontend::Startup& startup, MessageWriter& out) {
  for (const auto& [name, value] : startup.parameters) take_parameter(name, value);
  negotiate_version(startup, out);
  if (sessions_.rules.requires_tls && !encrypted_) return refuse_without_tls(out);
  if (admitted_.user.empty()) throw ProtocolError("the user has no name", std::string(kInvalidAuthorization));
  if (admitted_.database.empty()) admitted_.database = admitted_.user;
  return Next::LogIn;
}

ClientHandshake::Next ClientHandshake::refuse_without_tls(MessageWriter& out) {
  refusal_reason_ = "no TLS";
  write_fatal(out, kInvalidAuthorization, "nobody is let in without TLS", "connect with sslmode=require, or by https");
  return Next::Close;
}

// Unknown parameters from drivers are ignored, except in `options`, which a person has written. So are time zones and
// styles of dates, which drivers take from their machine: the client is told of those that hold.
void ClientHandshake::take_parameter(std::string_view name, std::string_view value) {
  if (name == "user") {
    admitted_.user = value;
  } else if (name == "database") {
    admitted_.database = value;
  } else if (name == "options") {
    for (auto& [option, wanted] : parse_startup_options(value)) {
      if (ClientParameters::knows(option)) admitted_.parameters.set(option, wanted);
      else admitted_.settings.emplace_back(std::move(option), std::move(wanted));
    }
  } else if (ClientParameters::knows(name)) {
    if (!ClientParameters::is_other_style(name, value)) admitted_.parameters.set(name, value);
  } else if (const auto settings = Settings::names();
             std::find(settings.begin(), settings.end(), name) != settings.end()) {
    admitted_.settings.emplace_back(name, value);
  }
}

ClientHandshake::Next ClientHandshake::log_in(MessageWriter& out) {
  CHECK(!authentication_, "a client is asked for its password once");
  auto session = sessions_.read_write.take();
  const bool has_users = session->session.has_users();
  if (has_users) login_ = session->session.find_login(admitted_.user);
  sessions_.read_write.give_back(std::move(session));
  if (!has_users) {
    if (!sessions_.rules.trusts || !may_be_trusted_)
      throw ProtocolError("the database has no users: nobody but on this machine is let in",
                          std::string(kInvalidAuthorization));
    admitted_.role = UserRole::Admin;  // without passwords there is nobody to restrict
    return Next::Admit;
  }
  authentication_.emplace(ScramExchange(login_->verifier), encrypted_ ? sessions_.rules.certificate_hash : "");
  authentication_->offer(out);
  return Next::Input;
}

ClientHandshake::Next ClientHandshake::authenticate(const Frame& frame, MessageWriter& out) {
  if (frame.type == 'X') return Next::Close;
  if (frame.type != 'p') throw ProtocolError("a password is asked for");
  CHECK(login_.has_value(), "a password is that of a user who was looked up");
  if (!sessions_.throttle.allows(address_, admitted_.user)) return refuse_throttled(out);
  const auto outcome = authentication_->receive(frame.body, out);
  if (outcome == SaslAuthentication::Outcome::Continues) return Next::Input;
  return conclude(outcome == SaslAuthentication::Outcome::Succeeded, out);
}

ClientHandshake::Next ClientHandshake::log_in_by(const PlainLogin& login, MessageWriter& out) {
  CHECK(!authentication_ && admitted_.user.empty(), "a client logs in once");
  encrypted_ = login.encrypted;
  may_be_trusted_ = login.is_local;  // the address of the server's other clients says nothing of this one's
  admitted_.user = admitted_.database = login.user;
  if (sessions_.rules.requires_tls && !encrypted_) return refuse_without_tls(out);
  MessageWriter offer;  // nobody asks for the password again
  if (log_in(offer) == Next::Admit) return Next::Admit;
  if (!sessions_.throttle.allows(address_, admitted_.user)) return refuse_throttled(out);
  const auto& verifier = login_->verifier;
  const auto given = make_verifier(login.password, verifier.salt, verifier.iterations);
  return conclude(equal_in_constant_time(given.stored_key, verifier.stored_key), out);
}

ClientHandshake::Next ClientHandshake::refuse_throttled(MessageWriter& out) {
  const auto message = "too many wrong passwords have come from your address for user \"" + admitted_.user + "\"";
  return refuse("too many wrong passwords", kInvalidAuthorization, message, out);
}

ClientHandshake::Next ClientHandshake::conclude(bool right, MessageWriter& out) {
  CHECK(login_.has_value(), "a password is that of a user who was looked up");
  if (right && login_->known) {
    admitted_.role = login_->role;
    return Next::Admit;
  }
  refusal_.emplace(sessions_.throttle, address_, admitted_.user);
  const auto* const reason = login_->known ? "wrong password" : "unknown user";
  return refuse(reason, kWrongPassword, "password authentication failed for user \"" + admitted_.user + "\"", out);
}

ClientHandshake::Next ClientHandshake::refuse(std::string_view reason, std::string_view sqlstate,
                                              const std::string& message, MessageWriter& out) {
  refusal_reason_ = reason;
  write_fatal(out, sqlstate, message);
  return Next::Refuse;
}

}  // namespace eindb
