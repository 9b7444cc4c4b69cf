#include "sqlite/virtual_table.hpp"

#include <new>

namespace eindb_sqlite {
namespace {

/// The release that has sqlite3_vtab_rhs_value().
constexpr int kTellsNumbers = 3038000;

int code_of(eindb::ErrorCode code) {
  switch (code) {
    case eindb::ErrorCode::Busy:
    case eindb::ErrorCode::Conflict: return SQLITE_BUSY;
    case eindb::ErrorCode::Cancelled: return SQLITE_INTERRUPT;
    case eindb::ErrorCode::ReadOnly: return SQLITE_READONLY;
    default: return SQLITE_ERROR;
  }
}

/// Runs `f`; what it throws becomes SQLite's code, and the message.
template <class F>
int guarded(char*& message, F&& f) noexcept {
  try {
    return std::forward<F>(f)();
  } catch (...) {
    try {
      const auto failure = current_failure();
      sqlite3_free(message);
      message = sqlite3_mprintf("%s", failure.message.c_str());
      return failure.code;
    } catch (...) {
      return SQLITE_NOMEM;
    }
  }
}

/// Whether 0 does not compare so with the number.
bool holds_for_no_zero(int op, double number) {
  switch (op) {
    case SQLITE_INDEX_CONSTRAINT_NE: return number == 0;
    case SQLITE_INDEX_CONSTRAINT_EQ: return number != 0;
    case SQLITE_INDEX_CONSTRAINT_GT: return number >= 0;
    case SQLITE_INDEX_CONSTRAINT_GE: return number > 0;
    case SQLITE_INDEX_CONSTRAINT_LT: return number <= 0;
    case SQLITE_INDEX_CONSTRAINT_LE: return number < 0;
    default: return false;
  }
}

std::string without_marks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.size() < 2 || (text.front() != '\'' && text.front() != '"') || text.back() != text.front())
    return std::string(text);
  std::string out;
  for (std::size_t n = 1; n + 1 < text.size(); ++n) {
    out += text[n];
    if (text[n] == text.front()) ++n;
  }
  return out;
}

/// argv: the module, the schema, the table, the arguments.
int connect(sqlite3* host, void* aux, int argc, const char* const* argv, sqlite3_vtab** result,
            char** message) noexcept {
  return guarded(*message, [&] {
    auto& maker = *static_cast<TableMaker*>(aux);
    std::optional<CreatedTable> created;
    const std::span words(argv, static_cast<std::size_t>(argc));
    if (argc > 3 || !equal_names(words[0], words[2])) {
      created.emplace();
      created->is_temporary = equal_names(words[1], "temp");
      for (const auto* word : words.subspan(3)) created->arguments.push_back(without_marks(word));
    }
    auto table = maker.make(created);
    const int code = sqlite3_declare_vtab(host, table->declaration().c_str());
    if (code != SQLITE_OK) throw HostError(sqlite3_errmsg(host), code);
    sqlite3_vtab_config(host, maker.use());
    *result = table.release();
    return SQLITE_OK;
  });
}

int disconnect(sqlite3_vtab* table) noexcept {
  delete static_cast<Table*>(table);
  return SQLITE_OK;
}

int best_index(sqlite3_vtab* table, sqlite3_index_info* info) noexcept {
  return guarded(table->zErrMsg,
                 [&] { return static_cast<Table*>(table)->plan(*info) ? SQLITE_OK : SQLITE_CONSTRAINT; });
}

int open(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) noexcept {
  return guarded(table->zErrMsg, [&] {
    *cursor = static_cast<Table*>(table)->open().release();
    return SQLITE_OK;
  });
}

int close(sqlite3_vtab_cursor* cursor) noexcept {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* cursor, int number, const char* plan, int argc, sqlite3_value** argv) noexcept {
  return guarded(cursor->pVtab->zErrMsg, [&] {
    static_cast<Cursor*>(cursor)->start(number, plan, {argv, static_cast<std::size_t>(argc)});
    return SQLITE_OK;
  });
}

int next(sqlite3_vtab_cursor* cursor) noexcept {
  return guarded(cursor->pVtab->zErrMsg, [&] {
    static_cast<Cursor*>(cursor)->next();
    return SQLITE_OK;
  });
}

int at_end(sqlite3_vtab_cursor* cursor) noexcept { return static_cast<Cursor*>(cursor)->is_at_end() ? 1 : 0; }

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int number) noexcept {
  return guarded(cursor->pVtab->zErrMsg, [&] {
    static_cast<Cursor*>(cursor)->give_column(context, number);
    return SQLITE_OK;
  });
}

int rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* result) noexcept {
  return guarded(cursor->pVtab->zErrMsg, [&] {
    *result = static_cast<Cursor*>(cursor)->number();
    return SQLITE_OK;
  });
}

constexpr sqlite3_module make_module(Creation creation) {
  sqlite3_module module{};
  module.iVersion = 1;
  // SQLite takes a module for that of a table of its own name if both are the same, or there is no xCreate.
  module.xCreate = creation == Creation::Never ? nullptr : &connect;
  module.xConnect = &connect;
  module.xBestIndex = &best_index;
  module.xDisconnect = &disconnect;
  module.xDestroy = &disconnect;
  module.xOpen = &open;
  module.xClose = &close;
  module.xFilter = &filter;
  module.xNext = &next;
  module.xEof = &at_end;
  module.xColumn = &column;
  module.xRowid = &rowid;
  return module;
}
constexpr sqlite3_module kFixed = make_module(Creation::Never);
constexpr sqlite3_module kCreatable = make_module(Creation::ByStatement);

}  // namespace

Failure current_failure() {
  try {
    throw;
  } catch (const eindb::Exception& error) {
    return {code_of(error.code()), error.what()};
  } catch (const HostError& error) {
    return {error.code(), error.what()};
  } catch (const std::bad_alloc&) {
    return {SQLITE_NOMEM, "out of memory"};
  } catch (const std::exception& error) {
    return {SQLITE_ERROR, error.what()};
  } catch (...) {
    return {SQLITE_ERROR, "internal error"};
  }
}

void Cursor::next() {
  has_row_ = result_->next();
  ++number_;
}

void Cursor::show(eindb::QueryResult result, std::shared_ptr<const void> source) {
  result_.reset();
  source_ = std::move(source);
  result_.emplace(std::move(result));
  has_row_ = result_->next();
  number_ = 0;
}

// Much of what SQL does, it does for the first row.
void Cursor::run(eindb::Connection& connection, const std::function<eindb::QueryResult()>& execute) {
  database_->run_interruptibly(connection, [&] { show(execute()); });
}

void add_module(sqlite3* host, const std::string& name, std::unique_ptr<TableMaker> maker, Creation creation) {
  // SQLite calls the destructor even if the call fails.
  const int code = sqlite3_create_module_v2(host, name.c_str(), creation == Creation::Never ? &kFixed : &kCreatable,
                                            maker.release(), [](void* aux) { delete static_cast<TableMaker*>(aux); });
  if (code != SQLITE_OK) throw HostError(sqlite3_errmsg(host), code);
}

void remove_module(sqlite3* host, const std::string& name) {
  sqlite3_create_module_v2(host, name.c_str(), nullptr, nullptr, nullptr);
}

bool excludes_zeros(sqlite3_index_info& info, int value) {
  if (sqlite3_libversion_number() < kTellsNumbers) return false;
  for (int n = 0; n < info.nConstraint; ++n) {
    const auto& constraint = info.aConstraint[n];
    sqlite3_value* number = nullptr;
    if (constraint.usable == 0 || constraint.iColumn != value) continue;
    if (sqlite3_vtab_rhs_value(&info, n, &number) != SQLITE_OK || number == nullptr) continue;
    const int type = sqlite3_value_type(number);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) continue;
    if (holds_for_no_zero(constraint.op, sqlite3_value_double(number))) return true;
  }
  return false;
}

bool plan_arguments(sqlite3_index_info& info, int first, int count) {
  const std::span constraints(info.aConstraint, static_cast<std::size_t>(info.nConstraint));
  int given = 0;
  for (int argument = 0; argument < count; ++argument) {
    for (std::size_t n = 0; n < constraints.size(); ++n) {
      const auto& constraint = constraints[n];
      if (constraint.iColumn != first + argument || constraint.op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
      if (constraint.usable == 0) return false;
      info.aConstraintUsage[n].argvIndex = ++given;
      info.aConstraintUsage[n].omit = 1;
      info.idxNum |= 1 << argument;
      break;
    }
  }
  info.estimatedCost = 1000;
  info.estimatedRows = 1000;
  return true;
}

}  // namespace eindb_sqlite
