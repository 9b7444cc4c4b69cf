#include <sqlite3.h>

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "common/check.hpp"
#include "common/error.hpp"
#include "storage/sqlite/sql_function.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {
namespace {

/// The user data that SQLite keeps for a function until the connection is closed or the function is replaced.
struct RegisteredFunction {
  SqliteConnection& connection;
  SqlFunction function;
};

SqliteValue value_of(sqlite3_value* value) {
  const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value));
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER: return sqlite3_value_int64(value);
    case SQLITE_FLOAT: return sqlite3_value_double(value);
    case SQLITE_TEXT: {
      const auto* const text = reinterpret_cast<const char*>(sqlite3_value_text(value));
      if (text == nullptr) throw std::bad_alloc();
      return std::string(text, size);
    }
    case SQLITE_BLOB: {
      const auto* const bytes = static_cast<const std::byte*>(sqlite3_value_blob(value));
      if (bytes == nullptr && size > 0) throw std::bad_alloc();
      return std::vector<std::byte>(bytes, bytes + size);
    }
    default: return std::monostate{};
  }
}

struct SetResult {
  sqlite3_context* context;

  void operator()(std::monostate) const { sqlite3_result_null(context); }
  void operator()(std::int64_t value) const { sqlite3_result_int64(context, value); }
  void operator()(double value) const { sqlite3_result_double(context, value); }
  void operator()(const std::string& value) const {
    sqlite3_result_text64(context, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  void operator()(const std::vector<std::byte>& value) const {
    sqlite3_result_blob64(context, value.data(), value.size(), SQLITE_TRANSIENT);
  }
};

SqliteValue call(RegisteredFunction& self, std::span<const SqliteValue> arguments) {
  DCHECK(self.function.arguments < 0 || std::cmp_equal(self.function.arguments, arguments.size()),
         "a function gets as many arguments as it says");
  if (const auto* body = std::get_if<SqlFunction::Body>(&self.function.body)) return (*body)(arguments);
  try {
    return self.connection.query_value(std::get<SqlFunction::Query>(self.function.body).sql, arguments);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Sql) return std::monostate{};
    throw;
  }
}

void on_call(sqlite3_context* context, int count, sqlite3_value** values) noexcept {
  auto& self = *static_cast<RegisteredFunction*>(sqlite3_user_data(context));
  try {
    std::vector<SqliteValue> arguments;
    for (int n = 0; n < count; ++n) arguments.push_back(value_of(values[n]));
    std::visit(SetResult{context}, call(self, arguments));
  } catch (...) {
    self.connection.keep_failure(std::current_exception());
    sqlite3_result_error(context, "the function failed", -1);
  }
}

void on_destroy(void* function) noexcept { delete static_cast<RegisteredFunction*>(function); }

}  // namespace

void SqliteConnection::add_function(SqlFunction function) {
  CHECK(!function.name.empty() && function.arguments >= -1, "a function has a name and counts its arguments");
  const int flags = SQLITE_UTF8 | SQLITE_INNOCUOUS | (function.deterministic ? SQLITE_DETERMINISTIC : 0);
  auto registered = std::make_unique<RegisteredFunction>(RegisteredFunction{*this, std::move(function)});
  const auto& [connection, described] = *registered;
  const auto name = described.name;
  const int arguments = described.arguments;
  // SQLite destroys the user data even if the call fails.
  const int code = sqlite3_create_function_v2(handle(), name.c_str(), arguments, flags, registered.release(), &on_call,
                                              nullptr, nullptr, &on_destroy);
  if (code != SQLITE_OK) fail(code);
}

SqliteValue SqliteConnection::query_value(std::string_view sql, std::span<const SqliteValue> arguments) {
  auto& statement = kept(sql);
  struct Reset {
    SqliteStatement& statement;
    ~Reset() { statement.reset(); }
  } const reset{statement};
  const auto count = std::min(arguments.size(), static_cast<std::size_t>(statement.parameter_count()));
  for (std::size_t n = 0; n < count; ++n) statement.bind_value(static_cast<int>(n) + 1, arguments[n]);
  return statement.step() ? statement.value(0) : SqliteValue{};
}

}  // namespace eindb
