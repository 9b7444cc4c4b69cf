#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "security/digest.hpp"

namespace eindb {

/// The data stored for a password with SCRAM-SHA-256 (RFC 5802, section 3). It suffices to check a login, but not to
/// log in.
///
///     salted password = PBKDF2(prepared password, salt, iterations)
///     stored key = SHA-256(HMAC(salted password, "Client Key"))
///     server key = HMAC(salted password, "Server Key")
///
/// Its text has the format of PostgreSQL's pg_authid, so that users can be transferred:
///
///     SCRAM-SHA-256$4096:<salt>$<stored key>:<server key>      the three in base64
struct ScramVerifier {
  static constexpr int kIterations = 4096;  ///< for new verifiers, as in RFC 7677 and PostgreSQL
  static constexpr std::size_t kSaltBytes = 16;

  int iterations = kIterations;
  std::string salt;  ///< bytes, not base64; not empty
  Digest stored_key;
  Digest server_key;

  std::string text() const;
};

/// The first overload draws a random salt.
ScramVerifier make_verifier(std::string_view password);
ScramVerifier make_verifier(std::string_view password, std::string salt, int iterations);

/// Whether `text` begins like a verifier's text.
bool looks_like_verifier(std::string_view text);
/// nullopt unless `text` is a verifier's text.
std::optional<ScramVerifier> parse_verifier(std::string_view text);

/// A verifier for the name of a user that does not exist. Its salt is a function of the name, ignoring case, so that
/// strangers cannot distinguish it from a user's, and no password matches its keys. `secret` is known only to the
/// database.
ScramVerifier decoy_verifier(std::string_view secret, std::string_view name);

}  // namespace eindb
