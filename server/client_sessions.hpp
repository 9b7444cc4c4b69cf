#pragma once

#include "common/user_role.hpp"
#include "engine/transfer_directory.hpp"
#include "server/session_pool.hpp"

namespace eindb {

/// Where clients' sessions come from, by what they may do, and whether a database without users lets anybody in.
struct ClientSessions {
  SessionPool read_write;
  SessionPool read_only;
  TransferDirectory transfers;
  bool trusts = false;

  SessionPool& of(UserRole role) { return role == UserRole::ReadWrite ? read_write : read_only; }
};

}  // namespace eindb
