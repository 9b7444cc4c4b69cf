#pragma once

#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// A change that happens wholly or not at all: BEGIN IMMEDIATE, or a savepoint where a transaction is open already.
/// Rolls back in the destructor unless commit() returned. Nests; inner ones end first. Threads: as its connection.
class SqliteTransaction {
 public:
  /// Throws Error{Busy} if another connection keeps writing past the busy timeout.
  explicit SqliteTransaction(SqliteConnection& connection);
  ~SqliteTransaction();
  SqliteTransaction(const SqliteTransaction&) = delete;
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;

  /// After an outermost commit the change survives a crash of the machine. If it throws, the change is undone.
  void commit();

  /// Ends the transaction that is open on `connection`, if there is one, as if it had never been.
  static void roll_back(SqliteConnection& connection) noexcept;

 private:
  SqliteConnection& connection_;
  bool nested_;
  bool open_ = true;
};

}  // namespace eindb
