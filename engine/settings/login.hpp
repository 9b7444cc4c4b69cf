#pragma once

#include "common/user_role.hpp"
#include "security/scram_verifier.hpp"

namespace eindb {

/// What a server checks who wants to log in against. It looks the same whether there is such a user or not.
struct Login {
  bool known = false;  ///< for logs; whoever wants to log in is not told
  UserRole role = UserRole::ReadOnly;
  ScramVerifier verifier;
};

}  // namespace eindb
