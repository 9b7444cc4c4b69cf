#include "server/login/sasl_authentication.hpp"

#include <utility>

#include "common/check.hpp"
#include "server/protocol/body_reader.hpp"

namespace eindb {
namespace {

constexpr std::string_view kPlain = "SCRAM-SHA-256";
constexpr std::string_view kWithChannelBinding = "SCRAM-SHA-256-PLUS";

/// The kinds of message 'R' for SASL.
enum class Authentication : std::int32_t { Sasl = 10, SaslContinue = 11, SaslFinal = 12 };

MessageWriter& begin(MessageWriter& out, Authentication what) {
  return out.begin('R').integer(static_cast<std::int32_t>(what));
}

/// The initial response after the mechanism's name; nullopt if the client waits for an empty challenge first.
std::optional<std::string_view> read_initial_response(BodyReader& body) {
  const auto response = body.value();
  body.end();
  return response;
}

}  // namespace

SaslAuthentication::SaslAuthentication(ScramExchange exchange, std::string certificate_hash)
    : exchange_(std::move(exchange)), certificate_hash_(std::move(certificate_hash)) {
  if (!certificate_hash_.empty()) exchange_.refuse_unbound();
}

void SaslAuthentication::offer(MessageWriter& out) const {
  CHECK(state_ == State::Offered, "mechanisms are offered before one is chosen");
  begin(out, Authentication::Sasl);
  if (!certificate_hash_.empty()) out.text(kWithChannelBinding);
  out.text(kPlain).text({}).end();
}

void SaslAuthentication::choose(std::string_view mechanism) {
  const bool binds = mechanism == kWithChannelBinding && !certificate_hash_.empty();
  if (!binds && mechanism != kPlain) throw ProtocolError("the client chose a mechanism that was not offered");
  if (binds) exchange_.bind_channel(certificate_hash_);
}

SaslAuthentication::Outcome SaslAuthentication::receive(std::string_view message, MessageWriter& out) {
  const auto state = std::exchange(state_, State::Over);
  CHECK(state != State::Over, "a client authenticates once");
  if (state == State::Chosen) return challenge(message, out);
  if (state == State::Challenged) return conclude(message, out);
  BodyReader body(message);
  choose(body.text());
  const auto response = read_initial_response(body);
  if (response) return challenge(*response, out);
  begin(out, Authentication::SaslContinue).end();
  state_ = State::Chosen;
  return Outcome::Continues;
}

SaslAuthentication::Outcome SaslAuthentication::challenge(std::string_view client_first, MessageWriter& out) {
  const auto server_first = exchange_.start(client_first);
  begin(out, Authentication::SaslContinue).bytes(server_first).end();
  state_ = State::Challenged;
  return Outcome::Continues;
}

SaslAuthentication::Outcome SaslAuthentication::conclude(std::string_view client_final, MessageWriter& out) {
  const auto server_final = exchange_.finish(client_final);
  if (!server_final) return Outcome::WrongPassword;
  begin(out, Authentication::SaslFinal).bytes(*server_final).end();
  return Outcome::Succeeded;
}

}  // namespace eindb
