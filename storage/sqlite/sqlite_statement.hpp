#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

struct sqlite3_stmt;

namespace eindb {

class SqliteConnection;
class SqliteHandle;

/// One value of a row; monostate is NULL.
using SqliteValue = std::variant<std::monostate, std::int64_t, double, std::string, std::vector<std::byte>>;

/// A compiled statement: bind, step, read columns, reset. Made by SqliteConnection, which must outlive it.
/// Parameters count from 1, columns from 0, as in SQLite. Threads: as its connection.
class SqliteStatement {
 public:
  SqliteStatement(SqliteStatement&& other) noexcept;
  SqliteStatement& operator=(SqliteStatement&& other) noexcept;
  ~SqliteStatement();

  template <std::integral T>
  SqliteStatement& bind(int parameter, T value) {
    return bind_integer(parameter, static_cast<std::int64_t>(value));
  }
  SqliteStatement& bind(int parameter, double value);
  SqliteStatement& bind(int parameter, std::string_view value);
  /// The bytes must stay valid until the statement is reset.
  SqliteStatement& bind(int parameter, std::span<const std::byte> value);
  SqliteStatement& bind_null(int parameter);
  SqliteStatement& bind_value(int parameter, const SqliteValue& value);
  int parameter_count() const;
  /// "$1", ":name"; empty for "?".
  std::string parameter_name(int parameter) const;

  /// True while there is a row.
  bool step();
  /// Steps to the end and resets.
  void run();
  void reset();
  /// Sets all parameters to NULL.
  void clear_bindings();
  /// Bytes of SQLite memory that it uses.
  std::size_t memory_used() const;

  int column_count() const;
  std::string column_name(int column) const;
  /// The declared type of the table column that a result column shows unchanged; empty otherwise.
  std::string declared_type(int column) const;
  SqliteValue value(int column) const;

  /// Typed access for eindb's own tables. A value of another type throws Error{Corrupt} that names the column.
  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  /// Valid until the next step or reset.
  std::span<const std::byte> blob(int column) const;

  /// Whether it leaves the database unchanged.
  bool is_read_only() const;

 private:
  friend class SqliteConnection;
  SqliteStatement(SqliteHandle& connection, sqlite3_stmt* statement, bool from_user)
      : connection_(&connection), statement_(statement), from_user_(from_user) {}
  SqliteStatement& bind_integer(int parameter, std::int64_t value);
  SqliteStatement& checked_bind(int code);
  void require_type(int column, int type, const char* wanted) const;

  SqliteHandle* connection_;
  sqlite3_stmt* statement_;
  bool from_user_;
};

}  // namespace eindb
