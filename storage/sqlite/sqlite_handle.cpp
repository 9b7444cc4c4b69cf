#include "storage/sqlite/sqlite_handle.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "common/caught_error.hpp"
#include "common/open_databases.hpp"
#include "storage/sqlite/mapped_reads.hpp"

namespace eindb {
namespace {

/// SQLite instructions between two polls for cancellation: well under a millisecond.
constexpr int kInstructionsPerPoll = 10000;

/// A path that SQLite takes literally; it would read "file:..." as a URI.
std::string literal_path(const std::string& location) {
  return location.starts_with("file:") ? "./" + location : location;
}

// Databases attached to a read-only connection are read-only too, except in-memory ones named by a URI. All others are
// attached by a URI that says so.
int open_flags(SqliteHandle::Access access) {
  switch (access) {
    case SqliteHandle::Access::Create: return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI;
    case SqliteHandle::Access::ReadWrite: return SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI;
    case SqliteHandle::Access::ReadOnly:
    case SqliteHandle::Access::Immutable: return SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  }
  return SQLITE_OPEN_READONLY;
}

ErrorKind kind_of(int code) {
  if (code == SQLITE_BUSY_SNAPSHOT) return ErrorKind::Conflict;
  switch (code & 0xFF) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT: return ErrorKind::Corrupt;
    case SQLITE_READONLY:
    case SQLITE_AUTH: return ErrorKind::ReadOnly;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_FULL:
    case SQLITE_IOERR: return ErrorKind::Io;
    case SQLITE_BUSY:
    case SQLITE_PROTOCOL:  // locks that cannot be acquired at all
    case SQLITE_LOCKED: return ErrorKind::Busy;
    case SQLITE_NOMEM: return ErrorKind::MemoryLimit;
    case SQLITE_INTERRUPT: return ErrorKind::Cancelled;
    default: return ErrorKind::Sql;
  }
}

std::string hint_for(ErrorKind kind) {
  if (kind == ErrorKind::Io) return "look after the disk and its free space, then run the statement again";
  if (kind == ErrorKind::Busy) return "another connection writes to this database; try again when it is done";
  if (kind == ErrorKind::Conflict) return "ROLLBACK, and run the transaction again";
  if (kind == ErrorKind::ReadOnly) return "open a file that you may write, or a copy of it";
  return "";
}

/// The system's last error for this file, 0 if there was none.
int last_errno(sqlite3_file* file) {
  int error = 0;
  if (file != nullptr && file->pMethods != nullptr) file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error);
  return error;
}

/// The same for the database's log and for the database itself.
int last_errno(sqlite3* handle) {
  for (const int which : {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER}) {
    sqlite3_file* file = nullptr;
    if (sqlite3_file_control(handle, "main", which, &file) != SQLITE_OK) continue;
    if (const int error = last_errno(file); error != 0) return error;
  }
  return 0;
}

/// SQLite reports an unreadable disk as a corrupt database.
bool is_failed_read(sqlite3* handle, int code) {
  if (code != SQLITE_CORRUPT) return false;
  const int error = last_errno(handle);
  return error == EIO || error == ENXIO;
}

/// Clears the error once reported, so that later corruption is reported as such: a read beyond the end resets it.
void forget_errno(sqlite3* handle) {
  constexpr sqlite3_int64 kBehindAll = sqlite3_int64{1} << 60;
  char nothing = 0;
  for (const int which : {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER}) {
    sqlite3_file* file = nullptr;
    if (sqlite3_file_control(handle, "main", which, &file) == SQLITE_OK && last_errno(file) != 0)
      file->pMethods->xRead(file, &nothing, 1, kBehindAll);
  }
}

/// SQLite's message with the system's reason. SQLite records that per file, and for other causes only at the end of its
/// call, when something else may have failed as well. A full disk has a message of its own.
std::string io_message(sqlite3* handle, int code) {
  if (is_failed_read(handle, code)) return std::string("it cannot be read (") + std::strerror(last_errno(handle)) + ")";
  std::string message = sqlite3_errmsg(handle);
  const int noted = last_errno(handle);
  const int error = noted != 0 ? noted : sqlite3_system_errno(handle);
  if ((code & 0xFF) == SQLITE_FULL || error == 0) return message;
  return message + " (" + std::strerror(error) + ")";
}

/// The token at SQLite's error offset: a word, or a single character.
std::optional<SourceSpan> token_at(std::string_view sql, int offset) {
  if (offset < 0 || static_cast<std::size_t>(offset) >= sql.size()) return std::nullopt;
  const auto begin = static_cast<std::size_t>(offset);
  auto end = begin;
  while (end < sql.size() && (std::isalnum(static_cast<unsigned char>(sql[end])) != 0 || sql[end] == '_')) ++end;
  return SourceSpan{begin, std::max(end, begin + 1)};
}

/// Pages in the log at which a commit moves it into the file; SQLite's own default.
constexpr int kMovedLog = 1000;
/// Pages in the log at which a commit waits for readers, so that the log can restart.
constexpr int kLongLog = 2000;
constexpr std::int64_t kPatienceMilliseconds = 250;
constexpr std::int64_t kLongestPatienceMilliseconds = 1500;

/// Moves the log into the file after a commit, with `frames` pages in the log. A log can restart only when nobody reads
/// from it. If short readers overlap, that never happens, and the log would grow without bound. So commits wait for the
/// present readers to end, the longer the log is, the more patiently. Nothing is written meanwhile, and new readers
/// find everything in the file. Readers of an old state may take long and are not waited for; in that case much of the
/// log cannot be moved.
void move_log(SqliteHandle& self, const char* schema, int frames) noexcept {
  if (frames < kMovedLog) return;
  auto* const handle = self.handle();
  int in_log = 0;
  int moved = 0;
  // A failure can be ignored: the commit is in the log.
  sqlite3_wal_checkpoint_v2(handle, schema, SQLITE_CHECKPOINT_PASSIVE, &in_log, &moved);
  if (in_log < kLongLog || in_log - moved > in_log / 8) return;
  const auto patience = std::min(kLongestPatienceMilliseconds, kPatienceMilliseconds * in_log / kLongLog);
  sqlite3_busy_timeout(handle, static_cast<int>(patience));
  sqlite3_wal_checkpoint_v2(handle, schema, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  sqlite3_busy_timeout(handle, static_cast<int>(self.busy_timeout().count()));
}

int on_progress(void* cancellation) noexcept {
  try {
    (*static_cast<const Cancellation**>(cancellation))->check();
    return 0;
  } catch (...) {
    return 1;
  }
}

/// Pages that a sort holds before it writes them to a temporary file, unless the connection's cache is larger.
constexpr unsigned kSortedPages = 32;

/// Cache pages are allocated on demand, and sorts get the size of the cache. By default a connection allocates 20 pages
/// at the first read, 1.3 MB at our page size, and each sort 250 pages, 16 MB, whatever the limits. This has no effect
/// if the program has used SQLite before.
void configure_sqlite() {
  static const int code = [] {
    sqlite3_config(SQLITE_CONFIG_PMASZ, kSortedPages);
    return sqlite3_config(SQLITE_CONFIG_PAGECACHE, nullptr, 0, 0);
  }();
  static_cast<void>(code);
}

}  // namespace

std::string file_uri(const std::string& path, std::string_view parameter) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '/' || c == '.' || c == '-' || c == '_') uri += c;
    else uri += std::string{'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return uri + "?" + std::string(parameter);
}

SqliteHandle::SqliteHandle(const std::string& location, Access access) : name_(location) {
  configure_sqlite();
  if (location != ":memory:") refuse_as_database(location);
  const auto path = access == Access::Immutable ? file_uri(location, "immutable=1") : literal_path(location);
  const int code = sqlite3_open_v2(path.c_str(), &handle_, open_flags(access) | SQLITE_OPEN_NOMUTEX, nullptr);
  try {
    if (handle_ == nullptr) throw out_of_memory(name_);
    begin_mapped_reads(handle_);
    sqlite3_extended_result_codes(handle_, 1);
    if (code != SQLITE_OK) fail(code);
    const char* file = sqlite3_db_filename(handle_, "main");
    database_opened(this, file == nullptr ? "" : file);
    // Files come from anywhere. Their triggers and views may call no function with side effects, and SQL must not be
    // able to damage the file.
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    // A name in double quotes that nothing has is an error, not a text.
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
    sqlite3_rollback_hook(handle_, &on_rollback, this);
    sqlite3_commit_hook(handle_, &on_commit, this);
    sqlite3_wal_hook(handle_, &on_log, this);
  } catch (...) {
    close();
    throw;
  }
}

SqliteHandle::~SqliteHandle() { close(); }

void SqliteHandle::close() noexcept {
  if (handle_ != nullptr) sqlite3_close_v2(std::exchange(handle_, nullptr));
  database_closed(this);
}

bool SqliteHandle::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

int SqliteHandle::on_commit(void* handle) noexcept {
  auto& self = *static_cast<SqliteHandle*>(handle);
  try {
    if (has_spoilt_transaction(self.handle_)) {
      throw Error(ErrorKind::Io, self.name_ + ": the transaction has read a page that cannot be read (" +
                                     std::strerror(EIO) + "), and is rolled back");
    }
    if (self.hooks_ != nullptr) self.hooks_->before_commit();
    self.uncommitted_ = true;
    return 0;
  } catch (...) {
    self.keep_failure(std::current_exception());
    return 1;  // turns the commit into a rollback
  }
}

int SqliteHandle::on_log(void* handle, sqlite3* /*database*/, const char* schema, int frames) noexcept {
  auto& self = *static_cast<SqliteHandle*>(handle);
  if (self.follower_ != nullptr && std::string_view(schema) == "main") self.follower_->follow();
  move_log(self, schema, frames);
  return SQLITE_OK;
}

void SqliteHandle::on_rollback(void* handle) noexcept {
  auto& self = *static_cast<SqliteHandle*>(handle);
  ++self.rollbacks_;
  self.uncommitted_ = false;
  forget_spoilt_transaction(self.handle_);
  if (self.hooks_ != nullptr) self.hooks_->after_rollback();
}

// SQLite announces a commit before it happens, when it may still fail, and does not announce the end of transactions
// that wrote nothing. So a commit is recognised by a transaction that was open, no longer is, and was not rolled back.
void SqliteHandle::notice_commit() noexcept {
  if (in_transaction()) {
    uncommitted_ = true;
  } else if (std::exchange(uncommitted_, false) && hooks_ != nullptr) {
    hooks_->after_commit();
  }
}

void SqliteHandle::require_readable() const {
  if (has_read_in_vain(handle_, false)) read_in_vain(name_);
}

void SqliteHandle::set_busy_timeout(std::chrono::milliseconds timeout) {
  busy_timeout_ = timeout;
  sqlite3_busy_timeout(handle_, static_cast<int>(timeout.count()));
}

void SqliteHandle::watch(const Cancellation* cancellation) {
  cancellation_ = cancellation;
  sqlite3_progress_handler(handle_, kInstructionsPerPoll, cancellation == nullptr ? nullptr : &on_progress,
                           &cancellation_);
}

void SqliteHandle::check_cancelled() const {
  if (cancellation_ != nullptr) cancellation_->check();
}

void SqliteHandle::interrupt() noexcept {
  if (handle_ != nullptr) sqlite3_interrupt(handle_);
}

void SqliteHandle::fail(int code, std::optional<std::string_view> user_sql) {
  const bool in_vain = has_read_in_vain(handle_, true);
  if (auto failure = std::exchange(callback_failure_, nullptr)) std::rethrow_exception(failure);
  if (in_vain) read_in_vain(name_);
  const auto kind = is_failed_read(handle_, code) ? ErrorKind::Io : kind_of(code);
  if (kind == ErrorKind::Cancelled) {
    if (cancellation_ != nullptr) cancellation_->check();  // throws, naming the user or the timeout as the cause
    throw Error(kind, "the statement was cancelled");
  }
  if (kind == ErrorKind::MemoryLimit) throw out_of_memory(name_);
  // SQLite has several codes for denials of its authorizer.
  if (const auto denial = std::exchange(denial_, {}); !denial.empty())
    throw Error(denial_kind_, denial, std::nullopt, denial_hint_);
  if (kind == ErrorKind::Conflict) {
    throw Error(kind, "another connection has changed the database since this transaction began to read", std::nullopt,
                hint_for(kind));
  }
  // SQLite does not wait here: once the other connection commits, the state read so far is outdated.
  if (kind == ErrorKind::Busy && in_transaction() && sqlite3_txn_state(handle_, "main") == SQLITE_TXN_READ) {
    throw Error(ErrorKind::Conflict,
                name_ + ": another connection changes the database that this transaction has begun to read",
                std::nullopt, hint_for(ErrorKind::Conflict));
  }
  if ((code & 0xFF) == SQLITE_NOTADB) throw Error(kind, name_ + ": the file is not a database");
  if (kind == ErrorKind::Io) {
    const auto message = name_ + ": " + io_message(handle_, code);
    forget_errno(handle_);
    throw Error(kind, message, std::nullopt, hint_for(kind));
  }
  if (user_sql) {
    throw Error(kind, sqlite3_errmsg(handle_), token_at(*user_sql, sqlite3_error_offset(handle_)), hint_for(kind));
  }
  const auto name = kind != ErrorKind::Sql ? name_ + ": " : "";
  throw Error(kind, name + sqlite3_errmsg(handle_), std::nullopt, hint_for(kind));
}

}  // namespace eindb
