#include "security/scram_verifier.hpp"

#include <charconv>

#include "common/letter_case.hpp"
#include "security/base64.hpp"
#include "security/saslprep.hpp"

namespace eindb {
namespace {

constexpr std::string_view kPrefix = "SCRAM-SHA-256$";
/// PostgreSQL's salts have 16 bytes; clients receive the salt in a message of limited length.
constexpr std::size_t kLongestSalt = 256;

/// The text before `end`, which is removed from `rest` together with `end`; nullopt if `end` is missing.
std::optional<std::string_view> take_until(std::string_view& rest, char end) {
  const auto at = rest.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const auto field = rest.substr(0, at);
  rest.remove_prefix(at + 1);
  return field;
}

std::optional<int> parse_iterations(std::string_view text) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count <= 0) return std::nullopt;
  return count;
}

std::optional<Digest> parse_key(std::string_view text) {
  const auto bytes = base64_decode(text);
  if (!bytes || bytes->size() != Digest::kBytes) return std::nullopt;
  return Digest::of(*bytes);
}

}  // namespace

std::string ScramVerifier::text() const {
  return std::string(kPrefix) + std::to_string(iterations) + ":" + base64_encode(salt) + "$" +
         base64_encode(stored_key.view()) + ":" + base64_encode(server_key.view());
}

ScramVerifier make_verifier(std::string_view password) {
  return make_verifier(password, random_bytes(ScramVerifier::kSaltBytes), ScramVerifier::kIterations);
}

ScramVerifier make_verifier(std::string_view password, std::string salt, int iterations) {
  auto prepared = prepare_password(password);
  auto salted = pbkdf2_sha256(prepared, salt, iterations);
  auto client_key = hmac_sha256(salted.view(), "Client Key");
  ScramVerifier verifier{.iterations = iterations,
                         .salt = std::move(salt),
                         .stored_key = sha256(client_key.view()),
                         .server_key = hmac_sha256(salted.view(), "Server Key")};
  wipe(prepared);
  wipe(salted);
  wipe(client_key);
  return verifier;
}

bool looks_like_verifier(std::string_view text) { return text.starts_with(kPrefix); }

std::optional<ScramVerifier> parse_verifier(std::string_view text) {
  if (!looks_like_verifier(text)) return std::nullopt;
  auto rest = text.substr(kPrefix.size());
  const auto iterations_text = take_until(rest, ':');
  const auto salt_text = iterations_text ? take_until(rest, '$') : std::nullopt;
  const auto stored_text = salt_text ? take_until(rest, ':') : std::nullopt;
  if (!stored_text) return std::nullopt;

  const auto iterations = parse_iterations(*iterations_text);
  auto salt = base64_decode(*salt_text);
  const auto stored_key = parse_key(*stored_text);
  const auto server_key = parse_key(rest);
  if (!iterations || !salt || salt->empty() || salt->size() > kLongestSalt || !stored_key || !server_key)
    return std::nullopt;
  return ScramVerifier{
      .iterations = *iterations, .salt = std::move(*salt), .stored_key = *stored_key, .server_key = *server_key};
}

ScramVerifier decoy_verifier(std::string_view secret, std::string_view name) {
  const auto folded = to_lower(name);
  const auto salt = hmac_sha256(secret, "salt " + folded);
  // Finding a client key for this stored key would require inverting SHA-256.
  return {.iterations = ScramVerifier::kIterations,
          .salt = std::string(salt.view().substr(0, ScramVerifier::kSaltBytes)),
          .stored_key = hmac_sha256(secret, "stored key " + folded),
          .server_key = hmac_sha256(secret, "server key " + folded)};
}

}  // namespace eindb
