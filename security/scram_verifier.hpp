#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "security/digest.hpp"

namespace eindb {

/// What is kept of a password for SCRAM-SHA-256 (RFC 5802, section 3): enough to check who knows it, not enough to say
/// that one does.
///
///     salted password = PBKDF2(prepared password, salt, iterations)
///     stored key = SHA-256(HMAC(salted password, "Client Key"))
///     server key = HMAC(salted password, "Server Key")
///
/// Its text is that of PostgreSQL's pg_authid, so that users can move:
///
///     SCRAM-SHA-256$4096:<salt>$<stored key>:<server key>      the three in base64
struct ScramVerifier {
  static constexpr int kIterations = 4096;  ///< of new ones, as RFC 7677 and PostgreSQL have it
  static constexpr std::size_t kSaltBytes = 16;

  int iterations = kIterations;
  std::string salt;  ///< bytes, not base64; not empty
  Digest stored_key;
  Digest server_key;

  std::string text() const;
};

/// With a salt of its own.
ScramVerifier make_verifier(std::string_view password);
ScramVerifier make_verifier(std::string_view password, std::string salt, int iterations);

/// Whether `text` begins as the text of a verifier does.
bool looks_like_verifier(std::string_view text);
/// nullopt unless `text` is that of a verifier.
std::optional<ScramVerifier> parse_verifier(std::string_view text);

/// For a name that no user has, in any case of its letters: always the same salt, so that a stranger cannot tell it
/// from that of a user, and keys that no password has. `secret` is known to the database alone.
ScramVerifier decoy_verifier(std::string_view secret, std::string_view name);

}  // namespace eindb
