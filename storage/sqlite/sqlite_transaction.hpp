#pragma once

#include <cstdint>

#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// A change that happens completely or not at all: BEGIN IMMEDIATE, or a savepoint if a transaction is already open.
/// The destructor rolls back unless commit() returned. Transactions nest; inner ones end first. Threads: like its
/// connection.
class SqliteTransaction {
 public:
  enum class Scope : std::uint8_t {
    Files,  ///< takes the lock of writers
    Memory  ///< changes databases in memory alone: takes no lock of a file before it reads it
  };

  /// Throws Error{Busy} if another connection keeps writing past the busy timeout.
  explicit SqliteTransaction(SqliteConnection& connection, Scope scope = Scope::Files);
  ~SqliteTransaction();
  SqliteTransaction(const SqliteTransaction&) = delete;
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;

  /// After an outermost commit the change survives a crash of the machine. If it throws, the change is rolled back.
  void commit();

  /// Rolls back the transaction that is open on `connection`, if there is one.
  static void roll_back(SqliteConnection& connection) noexcept;

 private:
  SqliteConnection& connection_;
  bool nested_;
  bool open_ = true;
};

}  // namespace eindb
