#include "server/handshake.hpp"

#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "server/error_response.hpp"
#include "server/protocol/protocol_error.hpp"

namespace eindb {
namespace {

constexpr std::string_view kWrongPassword = "28P01";
constexpr std::string_view kInvalidAuthorization = "28000";

// What is spoken here is 3.0, without options of the protocol.
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

Handshake::Next Handshake::receive(const Frame& frame, std::size_t pending, MessageWriter& out) {
  if (authentication_) return authenticate(frame, out);
  const auto first = frontend::parse_first(frame);
  if (const auto* startup = std::get_if<frontend::Startup>(&first)) return start(*startup, out);
  if (const auto* cancel = std::get_if<frontend::CancelRequest>(&first)) {
    cancel_requested_ = CancelKey{cancel->process, cancel->secret};
    return Next::Close;
  }
  return refuse_encryption(pending, out);
}

// One byte, and the client goes on in the clear or leaves. What it sent before the answer might be somebody else's.
Handshake::Next Handshake::refuse_encryption(std::size_t pending, MessageWriter& out) {
  if (pending > 0) throw ProtocolError("a request for encryption has something behind it");
  out.bytes("N");
  return Next::Input;
}

Handshake::Next Handshake::start(const frontend::Startup& startup, MessageWriter& out) {
  for (const auto& [name, value] : startup.parameters) {
    if (name == "user") admission_.user = value;
    else if (name == "database") admission_.database = value;
    else if (ClientParameters::knows(name)) admission_.parameters.set(name, value);
  }
  negotiate_version(startup, out);
  if (admission_.user.empty()) throw ProtocolError("the user has no name", std::string(kInvalidAuthorization));
  if (admission_.database.empty()) admission_.database = admission_.user;
  return Next::LogIn;
}

Handshake::Next Handshake::log_in(MessageWriter& out) {
  auto session = sessions_.read_write.take();
  const bool has_users = session->session.has_users();
  if (has_users) login_ = session->session.find_login(admission_.user);
  sessions_.read_write.give_back(std::move(session));
  if (!has_users) {
    if (!sessions_.trusts)
      throw ProtocolError("the database has no users: nobody but on this machine is let in",
                          std::string(kInvalidAuthorization));
    admission_.role = UserRole::ReadWrite;
    return Next::Admit;
  }
  authentication_.emplace(ScramExchange(login_->verifier));
  authentication_->offer(out);
  return Next::Input;
}

Handshake::Next Handshake::authenticate(const Frame& frame, MessageWriter& out) {
  if (frame.type == 'X') return Next::Close;
  if (frame.type != 'p') throw ProtocolError("a password is asked for");
  const auto outcome = authentication_->receive(frame.body, out);
  if (outcome == SaslAuthentication::Outcome::Continues) return Next::Input;
  if (outcome == SaslAuthentication::Outcome::Succeeded && login_->known) {
    admission_.role = login_->role;
    return Next::Admit;
  }
  write_fatal(out, kWrongPassword, "password authentication failed for user \"" + admission_.user + "\"");
  return Next::Refuse;
}

}  // namespace eindb
