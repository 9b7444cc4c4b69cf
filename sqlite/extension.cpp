// The entry point, and the functions eindb_exec, eindb_refresh and eindb_version.

#include <memory>
#include <optional>

#include "sqlite/database.hpp"
#include "sqlite/einsum_table.hpp"
#include "sqlite/host.hpp"
#include "sqlite/query_table.hpp"
#include "sqlite/tensor_table.hpp"
#include "sqlite/values.hpp"
#include "sqlite/virtual_table.hpp"

SQLITE_EXTENSION_INIT1

namespace eindb_sqlite {
namespace {

/// The state of the functions.
struct Functions {
  std::shared_ptr<Database> database;
  TensorTables tensors;
};
using SharedFunctions = std::shared_ptr<Functions>;

template <class F>
void answer(sqlite3_context* context, F&& f) noexcept {
  try {
    std::forward<F>(f)(*static_cast<SharedFunctions*>(sqlite3_user_data(context))->get());
  } catch (...) {
    try {
      const auto failure = current_failure();
      sqlite3_result_error(context, failure.message.c_str(), -1);
      sqlite3_result_error_code(context, failure.code);
    } catch (...) {
      sqlite3_result_error_nomem(context);
    }
  }
}

/// The statement's status. With parameters it is one statement; without it may be a script.
std::string execute(Functions& functions, std::span<sqlite3_value*> values) {
  if (values.empty()) throw HostError("eindb_exec() has a statement as its argument, and then values for $1, $2, ...");
  const auto text = text_of(values[0], "the statement of eindb_exec() is a text");
  const bool is_one = text.find(';') == std::string::npos;  // if not, the first one tells nothing of the others
  auto& connection = is_one ? functions.database->for_statement(text) : functions.database->writing();
  std::string status;
  functions.database->run_interruptibly(connection, [&] {
    if (values.size() == 1) {
      status = connection.execute_script(text).status();
      return;
    }
    auto statement = connection.prepare(text);
    for (std::size_t n = 1; n < values.size(); ++n) bind(statement, n, values[n]);
    status = statement.execute().status();
  });
  functions.tensors.refresh();
  return status;
}

void exec(sqlite3_context* context, int count, sqlite3_value** values) noexcept {
  answer(context, [&](Functions& functions) {
    give(context, execute(functions, {values, static_cast<std::size_t>(count)}));
  });
}

void refresh(sqlite3_context* context, int /*count*/, sqlite3_value** /*values*/) noexcept {
  answer(context, [&](Functions& functions) { give(context, static_cast<std::int64_t>(functions.tensors.refresh())); });
}

void version(sqlite3_context* context, int /*count*/, sqlite3_value** /*values*/) noexcept {
  answer(context, [&](Functions& /*functions*/) { give(context, std::string(eindb::library_version())); });
}

using Function = void (*)(sqlite3_context*, int, sqlite3_value**) noexcept;

/// Views and triggers of a file from elsewhere may not call it.
void add_function(sqlite3* host, const char* name, int arguments, Function function, const SharedFunctions& functions) {
  // SQLite calls the destructor even if the call fails.
  const int code = sqlite3_create_function_v2(host, name, arguments, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                              new SharedFunctions(functions), function, nullptr, nullptr,
                                              [](void* aux) { delete static_cast<SharedFunctions*>(aux); });
  if (code != SQLITE_OK) throw HostError(sqlite3_errmsg(host), code);
}

void add_all(sqlite3* host) {
  const auto database = std::make_shared<Database>(host);
  const auto functions = std::make_shared<Functions>(Functions{database, TensorTables(database)});
  add_function(host, "eindb_exec", -1, &exec, functions);
  add_function(host, "eindb_refresh", 0, &refresh, functions);
  add_function(host, "eindb_version", 0, &version, functions);
  add_einsum_module(database);
  add_query_module(database);
  try {
    functions->tensors.refresh();
  } catch (...) {
    // Whatever is wrong with the file, eindb_refresh() tells; tables without tensors can be computed with.
  }
}

}  // namespace
}  // namespace eindb_sqlite

extern "C" __attribute__((visibility("default"))) int sqlite3_eindb_init(sqlite3* host, char** message,
                                                                         const sqlite3_api_routines* api) noexcept;

int sqlite3_eindb_init(sqlite3* host, char** message, const sqlite3_api_routines* api) noexcept {
  // One set of functions serves all connections of the process.
  if (sqlite3_api != nullptr && sqlite3_api != api) {
    *message = api->mprintf("%s", "another SQLite of this process has loaded eindb");
    return SQLITE_ERROR;
  }
  SQLITE_EXTENSION_INIT2(api)
  try {
    eindb_sqlite::add_all(host);
    return SQLITE_OK_LOAD_PERMANENTLY;  // threads of eindb's, and what they run, outlive a connection
  } catch (...) {
    try {
      *message = sqlite3_mprintf("%s", eindb_sqlite::current_failure().message.c_str());
    } catch (...) {
      return SQLITE_NOMEM;
    }
    return SQLITE_ERROR;
  }
}
