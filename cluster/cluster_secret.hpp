#pragma once

#include <string>
#include <string_view>

#include "security/digest.hpp"

namespace eindb {

/// The secret shared by all nodes of a cluster: knowing it identifies a node. Only a key derived from it is kept in
/// memory.
class ClusterSecret {
 public:
  static constexpr std::size_t kFewestBytes = 16;

  /// No secret: every process on this machine may be a node.
  ClusterSecret() : ClusterSecret(none()) {}
  /// Reads the first line of a file that only its owner can read. Error{Io, Value} for other files, and for a line of
  /// fewer than kFewestBytes bytes.
  static ClusterSecret from_file(const std::string& path);
  static ClusterSecret of(std::string_view text) { return ClusterSecret(text); }

  bool is_given() const { return is_given_; }
  /// Must not be shown or logged.
  const Digest& key() const { return key_; }

 private:
  explicit ClusterSecret(std::string_view text);
  static const ClusterSecret& none();

  bool is_given_;
  Digest key_;
};

}  // namespace eindb
