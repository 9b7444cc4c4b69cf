#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace eindb {

/// A SHA-256 digest. Secret digests must be compared by equal_in_constant_time(), so there is no operator ==.
struct Digest {
  static constexpr std::size_t kBytes = 32;
  std::array<unsigned char, kBytes> bytes{};

  std::string_view view() const { return {reinterpret_cast<const char*>(bytes.data()), kBytes}; }
  /// `view` must have kBytes bytes.
  static Digest of(std::string_view view);
};

Digest sha256(std::string_view text);
Digest hmac_sha256(std::string_view key, std::string_view text);
/// PBKDF2 with HMAC-SHA-256, deliberately slow; the time grows with the number of iterations.
Digest pbkdf2_sha256(std::string_view password, std::string_view salt, int iterations);
Digest exclusive_or(const Digest& a, const Digest& b);

/// Compares in a time that does not depend on the contents.
bool equal_in_constant_time(const Digest& a, const Digest& b);

/// Unpredictable bytes. Error{Io} if the operating system has none.
std::string random_bytes(std::size_t count);

/// Overwrites a secret that is no longer needed, in a way that the compiler cannot optimise away.
void wipe(Digest& secret);
void wipe(std::string& secret);

}  // namespace eindb
