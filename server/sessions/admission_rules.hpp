#pragma once

#include <string>

namespace eindb {

/// The rules for accepting clients.
struct AdmissionRules {
  bool trusts = false;           ///< admit everybody, if the database has no users
  bool offers_tls = false;       ///< clients may request encryption
  bool requires_tls = false;     ///< clients must use encryption
  std::string certificate_hash;  ///< for channel binding of passwords; empty: none
};

}  // namespace eindb
