#pragma once

#include <cstddef>
#include <memory>

#include "common/user_role.hpp"
#include "engine/files/transfer_directory.hpp"
#include "server/protocol/shared_bytes.hpp"
#include "server/sessions/admission_rules.hpp"
#include "server/sessions/client_limits.hpp"
#include "server/sessions/login_throttle.hpp"
#include "server/sessions/session_pool.hpp"
#include "server/sessions/session_seats.hpp"

namespace eindb {

/// What all clients of a server share: where their sessions come from, by what they may do, and by which rules they are
/// let in. The rules do not change while there are clients.
struct ClientSessions {
  SessionPool read_write;
  SessionPool read_only;
  TransferDirectory transfers;
  AdmissionRules rules = {};
  ClientLimits limits = {};
  /// For messages, prepared statements and values of parameters.
  std::shared_ptr<SharedBytes> held_for_clients = std::make_shared<SharedBytes>();
  SessionSeats seats{};
  LoginThrottle throttle{};

  SessionPool& of(UserRole role) { return role == UserRole::ReadOnly ? read_only : read_write; }
};

}  // namespace eindb
