#pragma once

#include <sqlite3ext.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

SQLITE_EXTENSION_INIT3

namespace eindb_sqlite {

/// A refusal of the extension's own, or of the host's SQLite.
class HostError : public std::runtime_error {
 public:
  explicit HostError(const std::string& message, int code = SQLITE_ERROR) : std::runtime_error(message), code_(code) {}
  /// SQLite's result code.
  int code() const noexcept { return code_; }

 private:
  int code_;
};

/// A statement on the host's connection. Threads: those of the connection. Finalized before the callback that made it
/// returns, since the host could not close its connection otherwise.
class HostStatement {
 public:
  /// HostError with SQLite's message.
  HostStatement(sqlite3* host, const std::string& sql);
  ~HostStatement() { sqlite3_finalize(statement_); }
  HostStatement(const HostStatement&) = delete;
  HostStatement& operator=(const HostStatement&) = delete;

  HostStatement& bind(int parameter, std::string_view text);
  /// True while there is a row. HostError as above.
  bool step();
  bool is_read_only() const { return sqlite3_stmt_readonly(statement_) != 0; }

  int column_count() const { return sqlite3_column_count(statement_); }
  std::string column_name(int column) const;
  /// SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT, SQLITE_BLOB, SQLITE_NULL.
  int type(int column) const { return sqlite3_column_type(statement_, column); }
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  double real(int column) const { return sqlite3_column_double(statement_, column); }
  /// Converted to text; empty for NULL.
  std::string text(int column) const;

 private:
  sqlite3* host_;
  sqlite3_stmt* statement_ = nullptr;
};

/// The name in quotation marks, as SQL has it.
std::string quoted(std::string_view name, char mark = '"');
bool equal_names(std::string_view a, std::string_view b);

/// The absolute path of the file of schema main; empty for a database in memory, or in a file without a name.
std::string file_of(sqlite3* host);
bool has_table(sqlite3* host, std::string_view name);

/// Whether sqlite3_interrupt() was called for the statement that runs now. To be called from one of its callbacks.
bool is_interrupted(sqlite3* host) noexcept;

/// Whether the host's SQLite is the very library that eindb is linked with.
bool is_linked_sqlite();

}  // namespace eindb_sqlite
