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

/// Shared by all clients of a server: the sources of their sessions, by role, and the rules for accepting them. The
/// rules do not change while clients are connected.
struct ClientSessions {
  SessionPool read_write;
  SessionPool read_only;
  TransferDirectory transfers;
  AdmissionRules rules = {};
  ClientLimits limits = {};
  /// The limit for messages, prepared statements and values of parameters.
  std::shared_ptr<SharedBytes> held_for_clients = std::make_shared<SharedBytes>();
  SessionSeats seats{};
  LoginThrottle throttle{};

  SessionPool& of(UserRole role) { return role == UserRole::ReadOnly ? read_only : read_write; }
};

}  // namespace eindb
