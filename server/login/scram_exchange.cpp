#include "server/login/scram_exchange.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "security/base64.hpp"
#include "server/protocol/protocol_error.hpp"

namespace eindb {
namespace {

/// The number of random bytes that PostgreSQL uses, encoded in 24 characters.
constexpr std::size_t kNonceBytes = 18;
constexpr std::string_view kChannelBinding = "p=tls-server-end-point";

[[noreturn]] void fail_message(const std::string& what) { throw ProtocolError("malformed SCRAM message: " + what); }

void check_message(std::string_view message) {
  if (message.size() > ScramExchange::kLongestMessage) fail_message("it is too long");
  if (message.find('\0') != std::string_view::npos) fail_message("it has a zero byte");
}

/// Reads "n=,r=abc,x=..." one attribute at a time: a letter, '=', a value up to the next comma.
class AttributeReader {
 public:
  explicit AttributeReader(std::string_view text) : rest_(text) {}

  /// The value of the next attribute, which must be `name`.
  std::string_view value(char name) {
    if (rest_.starts_with("m=")) fail_message("it asks for an extension, of which there are none");
    if (at_end_ || !rest_.starts_with(name)) fail_message(std::string("attribute ") + name + " is missing");
    return next();
  }
  /// Skips extensions, except repetitions of attributes already read, and m, which must not be skipped.
  void skip_extensions_until(char name) {
    while (!at_end_ && !rest_.starts_with(name)) skip_extension();
  }
  void skip_extensions() {
    while (!at_end_) skip_extension();
  }
  std::string_view rest() const { return rest_; }
  void end() const {
    if (!at_end_) fail_message("it goes on behind its last attribute");
  }

 private:
  std::string_view next() {
    if (rest_.size() < 2 || rest_[1] != '=') fail_message("an attribute has no value");
    seen_ += rest_[0];
    const auto comma = std::min(rest_.find(','), rest_.size());
    const auto value = rest_.substr(2, comma - 2);
    at_end_ = comma == rest_.size();
    rest_.remove_prefix(at_end_ ? comma : comma + 1);
    return value;
  }
  void skip_extension() {
    const char name = rest_.empty() ? '\0' : rest_[0];
    const bool is_letter = (name >= 'a' && name <= 'z') || (name >= 'A' && name <= 'Z');
    if (!is_letter || name == 'm') fail_message("an extension that cannot be skipped");
    if (seen_.find(name) != std::string::npos) fail_message(std::string("attribute ") + name + " is repeated");
    next();
  }

  std::string_view rest_;
  bool at_end_ = false;
  std::string seen_;
};

/// Consumes a field up to and including the next comma.
std::string_view take_field(std::string_view& rest, const char* what) {
  const auto comma = rest.find(',');
  if (comma == std::string_view::npos) fail_message(std::string(what) + " is missing");
  const auto field = rest.substr(0, comma);
  rest.remove_prefix(comma + 1);
  return field;
}

bool is_nonce(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7F'; });
}

}  // namespace

ScramExchange::ScramExchange(ScramVerifier verifier)
    : ScramExchange(std::move(verifier), base64_encode(random_bytes(kNonceBytes))) {}

/// n: the client does not support channel binding; y: it does, but assumes that the server does not; p=...: it uses it.
void ScramExchange::read_channel_flag(std::string_view flag) {
  const bool binds = !certificate_hash_.empty();
  if (flag.starts_with("p=")) {
    if (!binds) fail_message("channel binding without SCRAM-SHA-256-PLUS");
    if (flag != kChannelBinding) fail_message("a channel binding that is not tls-server-end-point");
    return;
  }
  if (flag != "n" && flag != "y") fail_message("it does not say whether the channel is bound");
  if (binds) fail_message("SCRAM-SHA-256-PLUS without channel binding");
  if (flag == "y" && offered_binding_)
    throw ProtocolError("the client was not told that the server binds channels: somebody may be in between", "28000");
}

std::string ScramExchange::start(std::string_view client_first) {
  CHECK(server_first_.empty(), "an exchange starts once");
  CHECK(!server_nonce_.empty() && !verifier_.salt.empty() && verifier_.iterations > 0,
        "nobody knows a server's first message before");
  check_message(client_first);
  auto bare = client_first;
  read_channel_flag(take_field(bare, "the end of the channel binding"));
  if (!take_field(bare, "the end of the authorization identity").empty())
    fail_message("to log in as one user with the password of another is not supported");
  gs2_header_ = client_first.substr(0, client_first.size() - bare.size());
  client_first_bare_ = bare;

  AttributeReader attributes(bare);
  attributes.value('n');
  const auto client_nonce = attributes.value('r');
  if (!is_nonce(client_nonce)) fail_message("a nonce is printable and not empty");
  attributes.skip_extensions();

  nonce_ = std::string(client_nonce) + server_nonce_;
  server_first_ = "r=" + nonce_ + ",s=" + base64_encode(verifier_.salt) + ",i=" + std::to_string(verifier_.iterations);
  return server_first_;
}

std::string ScramExchange::expected_channel_binding() const { return base64_encode(gs2_header_ + certificate_hash_); }

std::optional<std::string> ScramExchange::finish(std::string_view client_final) {
  CHECK(!server_first_.empty(), "an exchange starts before it ends");
  check_message(client_final);
  AttributeReader attributes(client_final);
  if (attributes.value('c') != expected_channel_binding()) fail_message("the channel binding is another than it was");
  if (attributes.value('r') != nonce_) fail_message("the nonce is another than it was");
  attributes.skip_extensions_until('p');
  const auto proof_at = client_final.size() - attributes.rest().size();
  const auto proof = base64_decode(attributes.value('p'));
  attributes.end();
  if (!proof || proof->size() != Digest::kBytes) fail_message("a proof is 32 bytes in base64");

  CHECK(proof_at > 0, "a proof stands behind what it proves");
  const auto without_proof = client_final.substr(0, proof_at - 1);
  const auto messages = client_first_bare_ + "," + server_first_ + "," + std::string(without_proof);
  if (!proves_password(Digest::of(*proof), messages)) return std::nullopt;
  return "v=" + base64_encode(hmac_sha256(verifier_.server_key.view(), messages).view());
}

/// proof = client key XOR HMAC(stored key, messages); the stored key is the hash of the client key.
bool ScramExchange::proves_password(const Digest& proof, std::string_view messages) const {
  auto client_key = exclusive_or(proof, hmac_sha256(verifier_.stored_key.view(), messages));
  const bool right = equal_in_constant_time(sha256(client_key.view()), verifier_.stored_key);
  wipe(client_key);
  return right;
}

}  // namespace eindb
