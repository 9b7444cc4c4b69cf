#pragma once

#include <string>
#include <string_view>

#include "security/digest.hpp"

namespace eindb {

/// The secret that all nodes of a cluster share, and nobody else: whoever proves to know it is one of them. Only a key
/// that is derived from it is kept.
class ClusterSecret {
 public:
  static constexpr std::size_t kFewestBytes = 16;

  /// None: everybody on this machine is a node.
  ClusterSecret() : ClusterSecret(std::string_view()) {}
  /// The first line of a file that only its owner can read. Error{Io, Value} for other files, and for one whose line
  /// has fewer than kFewestBytes.
  static ClusterSecret from_file(const std::string& path);
  static ClusterSecret of(std::string_view text) { return ClusterSecret(text); }

  bool is_given() const { return is_given_; }
  /// To be shown to nobody.
  const Digest& key() const { return key_; }

 private:
  explicit ClusterSecret(std::string_view text);

  bool is_given_;
  Digest key_;
};

}  // namespace eindb
