#pragma once

#include <string_view>

#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// A use of a statement that its connection keeps compiled (SqliteConnection::kept). The destructor resets it, so that
/// it pins no state of the database. Threads: like its connection.
class KeptStatement {
 public:
  KeptStatement(SqliteConnection& connection, std::string_view sql) : statement_(connection.kept(sql)) {}
  ~KeptStatement() { statement_.reset(); }
  KeptStatement(const KeptStatement&) = delete;
  KeptStatement& operator=(const KeptStatement&) = delete;
  SqliteStatement* operator->() { return &statement_; }
  SqliteStatement& operator*() { return statement_; }

 private:
  SqliteStatement& statement_;
};

}  // namespace eindb
