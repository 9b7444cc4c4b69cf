#include "storage/sqlite_transaction.hpp"

#include <sqlite3.h>

#include "common/check.hpp"

namespace eindb {
namespace {

/// SQLite finds the innermost savepoint of a name, so that one name serves all depths.
constexpr const char* kSavepoint = "SAVEPOINT eindb_change";
constexpr const char* kRelease = "RELEASE eindb_change";
constexpr const char* kRollbackNested = "ROLLBACK TO eindb_change; RELEASE eindb_change";

/// Stops the SELECTs that still run on a connection: after an interrupt SQLite refuses all SQL until they are reset.
void reset_all(sqlite3* handle) noexcept {
  for (auto* s = sqlite3_next_stmt(handle, nullptr); s != nullptr; s = sqlite3_next_stmt(handle, s)) sqlite3_reset(s);
}

}  // namespace

SqliteTransaction::SqliteTransaction(SqliteConnection& connection)
    : connection_(connection), nested_(connection.in_transaction()) {
  connection_.execute(nested_ ? kSavepoint : "BEGIN IMMEDIATE");
  if (nested_) return;
  try {
    connection_.clean_point_ = connection_.change_point();
  } catch (...) {
    sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

SqliteTransaction::~SqliteTransaction() {
  if (!open_) return;
  ++connection_.rollbacks_;
  if (!nested_) connection_.clean_point_.reset();
  if (!connection_.in_transaction()) return;  // some errors make SQLite roll back by itself
  const SqliteConnection::OriginScope scope(connection_, SqliteConnection::Origin::Eindb);
  const char* sql = nested_ ? kRollbackNested : "ROLLBACK";
  if (sqlite3_exec(connection_.handle(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return;
  reset_all(connection_.handle());
  sqlite3_exec(connection_.handle(), sql, nullptr, nullptr, nullptr);
}

void SqliteTransaction::commit() {
  CHECK(open_, "a transaction is committed once");
  connection_.execute(nested_ ? kRelease : "COMMIT");
  open_ = false;
  if (!nested_) connection_.clean_point_.reset();
}

}  // namespace eindb
