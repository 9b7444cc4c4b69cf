// Arbitrary bytes as login messages of a client: they are read or refused, and no login succeeds. The first byte
// determines whether the connection has TLS; each line end starts the next message.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server/login/sasl_authentication.hpp"
#include "server/protocol/protocol_error.hpp"

namespace {

using Outcome = eindb::SaslAuthentication::Outcome;

/// The outcome of the messages in `bytes`.
Outcome authenticate(std::string_view bytes, eindb::SaslAuthentication authentication) {
  auto outcome = Outcome::Continues;
  while (outcome == Outcome::Continues && !bytes.empty()) {
    const auto end = std::min(bytes.find('\n'), bytes.size());
    eindb::MessageWriter out;
    outcome = authentication.receive(bytes.substr(0, end), out);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const eindb::ScramExchange exchange(eindb::decoy_verifier("secret", "user"), "server");
  try {
    if (authenticate(bytes, eindb::SaslAuthentication(exchange, data[0] % 2 == 1 ? "hash" : "")) == Outcome::Succeeded)
      std::abort();
  } catch (const eindb::ProtocolError&) {  // the connection would end
  }
  eindb::parse_verifier(bytes);
  return 0;
}
