#include "storage/sqlite/sqlite_statement.hpp"

#include <sqlite3.h>

#include <utility>

#include "common/check.hpp"
#include "storage/sqlite/mapped_reads.hpp"
#include "storage/sqlite/sqlite_destructors.hpp"
#include "storage/sqlite/sqlite_handle.hpp"

namespace eindb {

SqliteStatement::SqliteStatement(SqliteStatement&& other) noexcept
    : connection_(other.connection_),
      statement_(std::exchange(other.statement_, nullptr)),
      from_user_(other.from_user_) {}

SqliteStatement& SqliteStatement::operator=(SqliteStatement&& other) noexcept {
  std::swap(connection_, other.connection_);
  std::swap(statement_, other.statement_);
  std::swap(from_user_, other.from_user_);
  return *this;
}

SqliteStatement::~SqliteStatement() { sqlite3_finalize(statement_); }

SqliteStatement& SqliteStatement::checked_bind(int code) {
  DCHECK(code != SQLITE_MISUSE, "values are bound to a statement at rest");
  DCHECK(code != SQLITE_RANGE, "values are bound to parameters that the statement has");
  if (code != SQLITE_OK) connection_->fail(code);
  return *this;
}

SqliteStatement& SqliteStatement::bind_integer(int parameter, std::int64_t value) {
  return checked_bind(sqlite3_bind_int64(statement_, parameter, value));
}

SqliteStatement& SqliteStatement::bind(int parameter, double value) {
  return checked_bind(sqlite3_bind_double(statement_, parameter, value));
}

SqliteStatement& SqliteStatement::bind(int parameter, std::string_view value) {
  const char* text = value.data() != nullptr ? value.data() : "";
  return checked_bind(sqlite3_bind_text64(statement_, parameter, text, value.size(), kTransient, SQLITE_UTF8));
}

SqliteStatement& SqliteStatement::bind(int parameter, std::span<const std::byte> value) {
  if (value.empty()) return checked_bind(sqlite3_bind_zeroblob(statement_, parameter, 0));
  return checked_bind(sqlite3_bind_blob64(statement_, parameter, value.data(), value.size(), kStatic));
}

SqliteStatement& SqliteStatement::bind_null(int parameter) {
  return checked_bind(sqlite3_bind_null(statement_, parameter));
}

SqliteStatement& SqliteStatement::bind_value(int parameter, const SqliteValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return bind(parameter, *integer);
  if (const auto* real = std::get_if<double>(&value)) return bind(parameter, *real);
  if (const auto* text = std::get_if<std::string>(&value)) return bind(parameter, std::string_view(*text));
  if (const auto* blob = std::get_if<std::vector<std::byte>>(&value)) {
    if (blob->empty()) return checked_bind(sqlite3_bind_zeroblob(statement_, parameter, 0));
    return checked_bind(sqlite3_bind_blob64(statement_, parameter, blob->data(), blob->size(), kTransient));
  }
  return bind_null(parameter);
}

int SqliteStatement::parameter_count() const { return sqlite3_bind_parameter_count(statement_); }

std::string SqliteStatement::parameter_name(int parameter) const {
  DCHECK(parameter >= 1 && parameter <= parameter_count(), "parameters are numbered from one");
  const char* name = sqlite3_bind_parameter_name(statement_, parameter);
  return name == nullptr ? "" : name;
}

bool SqliteStatement::step() {
  DCHECK(statement_ != nullptr, "a statement that runs was not moved away");
  // SQLite recompiles the statement if the schema changed, and then calls the authorizer again.
  const auto origin = from_user_ ? SqliteHandle::Origin::UserStep : SqliteHandle::Origin::Eindb;
  const SqliteHandle::OriginScope scope(*connection_, origin);
  std::optional<CancellationScope> polls;  // for functions that take long
  if (connection_->watched() != nullptr) polls.emplace(*connection_->watched());
  const int code = sqlite3_step(statement_);
  if (code != SQLITE_ROW) connection_->notice_commit();
  try {
    if (code != SQLITE_ROW && code != SQLITE_DONE) connection_->fail(code);
    connection_->require_readable();
    return code == SQLITE_ROW;
  } catch (...) {
    sqlite3_reset(statement_);
    has_read_in_vain(connection_->handle(), true);  // the mapping of the file can be released now
    throw;
  }
}

void SqliteStatement::run() {
  while (step()) {
  }
  reset();
}

void SqliteStatement::reset() { sqlite3_reset(statement_); }

void SqliteStatement::clear_bindings() { sqlite3_clear_bindings(statement_); }

std::size_t SqliteStatement::memory_used() const {
  return static_cast<std::size_t>(sqlite3_stmt_status(statement_, SQLITE_STMTSTATUS_MEMUSED, 0));
}

int SqliteStatement::column_count() const { return sqlite3_column_count(statement_); }

std::string SqliteStatement::column_name(int column) const {
  DCHECK(column >= 0 && column < column_count(), "a column that is named is one of the statement's");
  const char* name = sqlite3_column_name(statement_, column);
  if (name == nullptr) connection_->fail(SQLITE_NOMEM);
  return name;
}

std::string SqliteStatement::declared_type(int column) const {
  const char* type = sqlite3_column_decltype(statement_, column);
  return type == nullptr ? "" : type;
}

SqliteValue SqliteStatement::value(int column) const {
  DCHECK(column >= 0 && column < sqlite3_data_count(statement_), "a value is read of a column of the current row");
  switch (sqlite3_column_type(statement_, column)) {
    case SQLITE_INTEGER: return sqlite3_column_int64(statement_, column);
    case SQLITE_FLOAT: return sqlite3_column_double(statement_, column);
    case SQLITE_TEXT: return text(column);
    case SQLITE_BLOB: {
      const auto bytes = blob(column);
      return std::vector<std::byte>(bytes.begin(), bytes.end());
    }
    default: return std::monostate{};
  }
}

void SqliteStatement::require_type(int column, int type, const char* wanted) const {
  DCHECK(column >= 0 && column < sqlite3_data_count(statement_), "a row is read while the statement stands on it");
  if (sqlite3_column_type(statement_, column) == type) return;
  throw Error(ErrorKind::Corrupt,
              connection_->name() + ": column " + column_name(column) + " of eindb's own tables holds no " + wanted);
}

bool SqliteStatement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

std::int64_t SqliteStatement::integer(int column) const {
  require_type(column, SQLITE_INTEGER, "integer");
  return sqlite3_column_int64(statement_, column);
}

double SqliteStatement::real(int column) const {
  require_type(column, SQLITE_FLOAT, "number");
  return sqlite3_column_double(statement_, column);
}

std::string SqliteStatement::text(int column) const {
  require_type(column, SQLITE_TEXT, "text");
  const unsigned char* data = sqlite3_column_text(statement_, column);
  if (data == nullptr) connection_->fail(SQLITE_NOMEM);
  std::string text(reinterpret_cast<const char*>(data),
                   static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
  connection_->require_readable();
  return text;
}

std::span<const std::byte> SqliteStatement::blob(int column) const {
  require_type(column, SQLITE_BLOB, "blob");
  const void* data = sqlite3_column_blob(statement_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  if (data == nullptr && size > 0) connection_->fail(SQLITE_NOMEM);
  return {static_cast<const std::byte*>(data), size};
}

bool SqliteStatement::is_read_only() const { return sqlite3_stmt_readonly(statement_) != 0; }

}  // namespace eindb
