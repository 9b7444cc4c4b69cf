#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace eindb {

/// A digest of SHA-256. Secret ones are compared by equal_in_constant_time() alone, so there is no operator ==.
struct Digest {
  static constexpr std::size_t kBytes = 32;
  std::array<unsigned char, kBytes> bytes{};

  std::string_view view() const { return {reinterpret_cast<const char*>(bytes.data()), kBytes}; }
  /// `view` has kBytes.
  static Digest of(std::string_view view);
};

Digest sha256(std::string_view text);
Digest hmac_sha256(std::string_view key, std::string_view text);
/// PBKDF2 with HMAC-SHA-256: slow on purpose, by the number of iterations.
Digest pbkdf2_sha256(std::string_view password, std::string_view salt, int iterations);
Digest exclusive_or(const Digest& a, const Digest& b);

/// How long it takes says nothing of where they differ.
bool equal_in_constant_time(const Digest& a, const Digest& b);

/// Bytes that nobody can guess. Error{Io} where the operating system has none.
std::string random_bytes(std::size_t count);

/// Overwrites a secret that is no longer needed; the compiler cannot leave it out.
void wipe(Digest& secret);
void wipe(std::string& secret);

}  // namespace eindb
