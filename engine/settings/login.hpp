#pragma once

#include "common/user_role.hpp"
#include "security/scram_verifier.hpp"

namespace eindb {

/// The data that a server checks a login against. Its form does not reveal whether the user exists.
struct Login {
  bool known = false;  ///< for logs only; the client is not told
  UserRole role = UserRole::ReadOnly;
  ScramVerifier verifier;
};

}  // namespace eindb
