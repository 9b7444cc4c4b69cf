#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/session/open_database.hpp"
#include "engine/session/session_user.hpp"
#include "engine/session/statement_context.hpp"

namespace eindb {

/// A session in its three parts. Planning and running a query take all of them; whoever needs less takes the part that
/// it needs. Owned by the Session; used by one thread at a time, but for the cancellation.
struct SessionState {
  SessionState(const std::string& path, const SessionOptions& options);

  /// All names for the binder of the statement that runs.
  NameSource names() { return database.names(statement.parameters()); }
  /// Waits until others leave `bytes` of memory and the cores to a statement that nobody has planned; null where nobody
  /// is asked. Errors as AdmissionGate::admit.
  std::unique_ptr<Admission> admit(std::int64_t bytes);
  /// What connections to the database may take, by the settings and by what all sessions share.
  void limit_database_memory();

  OpenDatabase database;
  SessionUser user;
  StatementContext statement;
};

}  // namespace eindb
