#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <vector>

#include "common/check.hpp"
#include "common/error.hpp"
#include "storage/sqlite/sql_function.hpp"
#include "storage/sqlite/sql_values.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {
namespace {

/// The user data that SQLite keeps for a function until the connection is closed or the function is replaced.
struct RegisteredFunction {
  SqliteConnection& connection;
  SqlFunction function;
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

bool give_real(const SqlFunction& function, sqlite3_context* context, int count, sqlite3_value** values) {
  if (function.of_reals == nullptr || count != 2) return false;
  const int a = sqlite3_value_type(values[0]);
  const int b = sqlite3_value_type(values[1]);
  const bool is_of_reals =
      (a == SQLITE_FLOAT && (b == SQLITE_FLOAT || b == SQLITE_INTEGER)) || (a == SQLITE_INTEGER && b == SQLITE_FLOAT);
  if (!is_of_reals) return false;
  double result = 0;
  if (!function.of_reals(sqlite3_value_double(values[0]), sqlite3_value_double(values[1]), result)) return false;
  sqlite3_result_double(context, result);
  return true;
}

void on_call(sqlite3_context* context, int count, sqlite3_value** values) noexcept {
  auto& self = *static_cast<RegisteredFunction*>(sqlite3_user_data(context));
  try {
    if (give_real(self.function, context, count, values)) return;
    constexpr int kFew = 4;
    if (count <= kFew) {
      std::array<SqliteValue, kFew> arguments;
      for (int n = 0; n < count; ++n) arguments[static_cast<std::size_t>(n)] = value_of(values[n]);
      set_result(context, call(self, std::span(arguments).first(static_cast<std::size_t>(count))));
      return;
    }
    std::vector<SqliteValue> arguments;
    for (int n = 0; n < count; ++n) arguments.push_back(value_of(values[n]));
    set_result(context, call(self, arguments));
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
