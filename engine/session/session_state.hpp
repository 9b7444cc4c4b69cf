#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/session/open_database.hpp"
#include "engine/session/open_rows.hpp"
#include "engine/session/session_user.hpp"
#include "engine/session/statement_context.hpp"

namespace eindb {

/// The three parts of a session together. Planning and running a query take all of them; other functions take only the
/// part they need. Owned by the Session; used by one thread at a time, except for cancellation.
struct SessionState {
  SessionState(const std::string& path, const SessionOptions& options);

  /// All names for the binder of the running statement.
  NameSource names() { return database.names(statement.parameters()); }
  /// Waits until other sessions leave `bytes` of memory, and the cores, to a statement that has no plan. Null without a
  /// gate. Throws the same errors as AdmissionGate::admit.
  std::unique_ptr<Admission> admit(std::int64_t bytes);
  /// Call before a statement reads or changes a tensor. Temporary ones are the user's own.
  void check_right(const TensorInfo& tensor, Right right) const;
  /// Bounds the memory of the database's connections by the settings and by the limit that all sessions share.
  void limit_database_memory();
  /// Call before anything is changed that rows may be read from: what is left of them is held in memory from then on.
  /// Error{MemoryLimit} where that takes more than a quarter of the memory limit.
  void keep_open_rows();
  /// Likewise before a rollback. Rows that take more, or fail, are given up.
  void keep_open_rows_from_rollback() noexcept;

  OpenDatabase database;
  SessionUser user;
  StatementContext statement;
  OpenRows open_rows;
  /// What now() and statement_timestamp() say: when the transaction began, or the statement if there is none around it.
  struct Moments {
    std::chrono::system_clock::time_point transaction;
    std::chrono::system_clock::time_point statement;
  } moments;
  /// Tells that a statement of the user's begins.
  void note_begin();
  /// Makes a file visible to SQL as a table (engine/files/file_table.hpp); set by the session, since what reads files
  /// is built on what runs SQL.
  std::shared_ptr<void> (*show_file)(const FilePath& path, const std::string& table, SessionState& session) = nullptr;
};

}  // namespace eindb
