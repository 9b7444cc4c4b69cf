#include "storage/sqlite/sqlite_transaction.hpp"

#include <sqlite3.h>

#include <new>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/memory_wait.hpp"

namespace eindb {
namespace {

/// SQLite uses the innermost savepoint of a name, so one name serves all depths.
constexpr const char* kSavepoint = "SAVEPOINT eindb_change";
constexpr const char* kRelease = "RELEASE eindb_change";
constexpr const char* kRollbackNested = "ROLLBACK TO eindb_change";
constexpr const char* kRollback = "ROLLBACK";

/// Stops the SELECTs still running on a connection: after an interrupt SQLite refuses all SQL until they are reset.
void reset_all(sqlite3* handle) noexcept {
  for (auto* s = sqlite3_next_stmt(handle, nullptr); s != nullptr; s = sqlite3_next_stmt(handle, s)) sqlite3_reset(s);
}

/// Whether the transaction, or its part since the savepoint, is completely undone. Waits for memory, because SQLite
/// recompiles statements if the transaction changed the schema.
bool undo(SqliteConnection& connection, bool nested) noexcept {
  return when_there_is_memory([&] {
    try {
      connection.execute_kept(nested ? kRollbackNested : kRollback);
      if (nested) connection.execute_kept(kRelease);
      return true;
    } catch (const Error& error) {
      if (connection.in_transaction() && error.kind() == ErrorKind::MemoryLimit) throw std::bad_alloc();
      return !connection.in_transaction();
    }
  });
}

/// Compiles the statements of undo() in advance, because a lack of memory may be the reason for undoing.
void prepare_undo(SqliteConnection& connection, bool nested) {
  connection.kept(nested ? kRollbackNested : kRollback);
  if (nested) connection.kept(kRelease);
}

void undo_surely(SqliteConnection& connection, bool nested) noexcept {
  if (undo(connection, nested)) return;
  reset_all(connection.handle());
  undo(connection, nested);
}

}  // namespace

void SqliteTransaction::roll_back(SqliteConnection& connection) noexcept {
  if (connection.in_transaction()) undo_surely(connection, false);
}

SqliteTransaction::SqliteTransaction(SqliteConnection& connection, Scope scope)
    : connection_(connection), nested_(connection.in_transaction()) {
  prepare_undo(connection_, nested_);
  if (nested_) connection_.execute(kSavepoint);
  else connection_.execute(scope == Scope::Files ? "BEGIN IMMEDIATE" : "BEGIN");
  CHECK(connection_.in_transaction(), "what has begun is open");
  if (nested_ || scope == Scope::Memory) return;
  try {
    connection_.clean_point_ = connection_.change_point();
  } catch (...) {
    roll_back(connection_);
    throw;
  }
}

SqliteTransaction::~SqliteTransaction() {
  if (!open_) return;
  ++connection_.rollbacks_;
  if (!nested_) connection_.clean_point_.reset();
  if (!connection_.in_transaction()) return;  // some errors make SQLite roll back by itself
  undo_surely(connection_, nested_);
}

void SqliteTransaction::commit() {
  CHECK(open_, "a transaction is committed once");
  connection_.execute(nested_ ? kRelease : "COMMIT");
  open_ = false;
  if (!nested_) connection_.clean_point_.reset();
  DCHECK(connection_.in_transaction() == nested_, "a commit ends its own transaction alone");
}

}  // namespace eindb
