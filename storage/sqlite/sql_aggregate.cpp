#include "storage/sqlite/sql_aggregate.hpp"

#include <sqlite3.h>

#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "storage/sqlite/sql_values.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {
namespace {

/// The user data that SQLite keeps for a function until the connection is closed or the function is replaced.
struct RegisteredAggregate {
  SqliteConnection& connection;
  SqlAggregateFunction function;
};

RegisteredAggregate& self_of(sqlite3_context* context) {
  return *static_cast<RegisteredAggregate*>(sqlite3_user_data(context));
}

/// SQLite's memory for a group: a pointer to its state, null before the first row. SQLite clears it, and calls
/// on_final for every group that has it, whether the statement succeeds or not.
SqlAggregate** state_of(sqlite3_context* context, bool makes) {
  return static_cast<SqlAggregate**>(sqlite3_aggregate_context(context, makes ? sizeof(SqlAggregate*) : 0));
}

template <class F>
void guarded(sqlite3_context* context, F&& f) noexcept {
  try {
    std::forward<F>(f)();
  } catch (...) {
    self_of(context).connection.keep_failure(std::current_exception());
    sqlite3_result_error(context, "the function failed", -1);
  }
}

void on_step(sqlite3_context* context, int count, sqlite3_value** values) noexcept {
  guarded(context, [&] {
    auto** const state = state_of(context, true);
    if (state == nullptr) throw std::bad_alloc();
    if (*state == nullptr) *state = self_of(context).function.begin().release();
    std::vector<SqliteValue> arguments;
    arguments.reserve(static_cast<std::size_t>(count));
    for (int n = 0; n < count; ++n) arguments.push_back(value_of(values[n]));
    (*state)->add(arguments);
  });
}

void on_value(sqlite3_context* context) noexcept {
  guarded(context, [&] {
    auto** const state = state_of(context, false);
    const bool has_rows = state != nullptr && *state != nullptr;
    set_result(context, has_rows ? (*state)->result() : self_of(context).function.begin()->result());
  });
}

void on_final(sqlite3_context* context) noexcept {
  on_value(context);
  if (auto** const state = state_of(context, false)) delete std::exchange(*state, nullptr);
}

void on_inverse(sqlite3_context* context, int, sqlite3_value**) noexcept {
  guarded(context, [&] {
    throw CodedError("0A000", ErrorKind::Unsupported,
                     self_of(context).function.name + " over a frame that rows leave is not supported",
                     "frames that begin with UNBOUNDED PRECEDING are, and whole partitions");
  });
}

void free_aggregate(void* function) noexcept { delete static_cast<RegisteredAggregate*>(function); }

}  // namespace

void add_aggregate(SqliteConnection& connection, SqlAggregateFunction function) {
  CHECK(!function.name.empty() && function.arguments >= -1 && function.begin, "an aggregate has a name and a state");
  auto registered = std::make_unique<RegisteredAggregate>(RegisteredAggregate{connection, std::move(function)});
  const auto name = registered->function.name;
  const int arguments = registered->function.arguments;
  // SQLite destroys the user data even if the call fails.
  const int code = sqlite3_create_window_function(
      connection.handle(), name.c_str(), arguments, SQLITE_UTF8 | SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC,
      registered.release(), &on_step, &on_final, &on_value, &on_inverse, &free_aggregate);
  if (code != SQLITE_OK) connection.fail(code);
}

}  // namespace eindb
