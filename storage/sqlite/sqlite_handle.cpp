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

/// Instructions of SQLite's virtual machine between two looks at the cancellation: well under a millisecond.
constexpr int kInstructionsPerPoll = 10000;

/// A path as SQLite takes it literally: "file:..." would be read as a URI.
std::string literal_path(const std::string& location) {
  return location.starts_with("file:") ? "./" + location : location;
}

std::string immutable_uri(const std::string& path) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '/' || c == '.' || c == '-' || c == '_') uri += c;
    else uri += std::string{'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return uri + "?immutable=1";
}

// What is attached to a connection is read-only where the connection is, but for a memory that is named by a URI.
int open_flags(SqliteHandle::Access access) {
  switch (access) {
    case SqliteHandle::Access::Create: return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case SqliteHandle::Access::ReadWrite: return SQLITE_OPEN_READWRITE;
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
    case SQLITE_PROTOCOL:  // locks that cannot be had, whatever is tried
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

/// What the system said of this file last when it refused something, 0 if it never did.
int last_errno(sqlite3_file* file) {
  int error = 0;
  if (file != nullptr && file->pMethods != nullptr) file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error);
  return error;
}

/// The same of the database's log and of the database itself.
int last_errno(sqlite3* handle) {
  for (const int which : {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER}) {
    sqlite3_file* file = nullptr;
    if (sqlite3_file_control(handle, "main", which, &file) != SQLITE_OK) continue;
    if (const int error = last_errno(file); error != 0) return error;
  }
  return 0;
}

/// SQLite takes a disk that cannot be read for a damaged database.
bool is_failed_read(sqlite3* handle, int code) {
  if (code != SQLITE_CORRUPT) return false;
  const int error = last_errno(handle);
  return error == EIO || error == ENXIO;
}

/// Once it was told, so that damage that is met later is damage: a read behind the end makes SQLite forget.
void forget_errno(sqlite3* handle) {
  constexpr sqlite3_int64 kBehindAll = sqlite3_int64{1} << 60;
  char nothing = 0;
  for (const int which : {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER}) {
    sqlite3_file* file = nullptr;
    if (sqlite3_file_control(handle, "main", which, &file) == SQLITE_OK && last_errno(file) != 0)
      file->pMethods->xRead(file, &nothing, 1, kBehindAll);
  }
}

/// What SQLite says of it, with the system's reason. SQLite notes that with each file, and for what is no file's at the
/// end of its call, when something else may have failed, too. A disk that is full has a message of its own.
std::string io_message(sqlite3* handle, int code) {
  if (is_failed_read(handle, code)) return std::string("it cannot be read (") + std::strerror(last_errno(handle)) + ")";
  std::string message = sqlite3_errmsg(handle);
  const int noted = last_errno(handle);
  const int error = noted != 0 ? noted : sqlite3_system_errno(handle);
  if ((code & 0xFF) == SQLITE_FULL || error == 0) return message;
  return message + " (" + std::strerror(error) + ")";
}

/// The token at SQLite's error offset: a word, or one character.
std::optional<SourceSpan> token_at(std::string_view sql, int offset) {
  if (offset < 0 || static_cast<std::size_t>(offset) >= sql.size()) return std::nullopt;
  const auto begin = static_cast<std::size_t>(offset);
  auto end = begin;
  while (end < sql.size() && (std::isalnum(static_cast<unsigned char>(sql[end])) != 0 || sql[end] == '_')) ++end;
  return SourceSpan{begin, std::max(end, begin + 1)};
}

/// Pages in the log from which on it is moved into the file after each commit, as SQLite does by itself.
constexpr int kMovedLog = 1000;
/// From which on it is to begin anew.
constexpr int kLongLog = 2000;
constexpr std::int64_t kPatienceMilliseconds = 250;
constexpr std::int64_t kLongestPatienceMilliseconds = 1500;

/// After a commit, with `frames` pages in the log. A log begins anew when nobody reads from it. Where short readers
/// overlap that is never, and it would grow without end. So commits wait until those have ended that read now, the
/// more patiently the longer the log is: meanwhile nothing is written, and who begins to read finds all in the file. A
/// reader of an old state, who may take long, is not waited for: then much of the log cannot be moved.
int on_log(void* self, sqlite3* handle, const char* schema, int frames) noexcept {
  if (frames < kMovedLog) return SQLITE_OK;
  int in_log = 0;
  int moved = 0;
  // Whatever it fails with, what was committed is in the log.
  sqlite3_wal_checkpoint_v2(handle, schema, SQLITE_CHECKPOINT_PASSIVE, &in_log, &moved);
  if (in_log < kLongLog || in_log - moved > in_log / 8) return SQLITE_OK;
  const auto patience = std::min(kLongestPatienceMilliseconds, kPatienceMilliseconds * in_log / kLongLog);
  sqlite3_busy_timeout(handle, static_cast<int>(patience));
  sqlite3_wal_checkpoint_v2(handle, schema, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  const auto usual = static_cast<SqliteHandle*>(self)->busy_timeout();
  sqlite3_busy_timeout(handle, static_cast<int>(usual.count()));
  return SQLITE_OK;
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

/// Pages of the cache are taken as they are needed, and sorts are of the size of the cache. By default a connection
/// that reads its first page takes room for 20 at once, 1.3 MB of ours, and each sort 250, 16 MB, whatever the limits
/// are. Without effect where the program has used SQLite before.
void configure_sqlite() {
  static const int code = [] {
    sqlite3_config(SQLITE_CONFIG_PMASZ, kSortedPages);
    return sqlite3_config(SQLITE_CONFIG_PAGECACHE, nullptr, 0, 0);
  }();
  static_cast<void>(code);
}

}  // namespace

SqliteHandle::SqliteHandle(const std::string& location, Access access) : name_(location) {
  configure_sqlite();
  if (location != ":memory:") refuse_as_database(location);
  const auto path = access == Access::Immutable ? immutable_uri(location) : literal_path(location);
  const int code = sqlite3_open_v2(path.c_str(), &handle_, open_flags(access) | SQLITE_OPEN_NOMUTEX, nullptr);
  try {
    if (handle_ == nullptr) throw out_of_memory(name_);
    begin_mapped_reads(handle_);
    sqlite3_extended_result_codes(handle_, 1);
    if (code != SQLITE_OK) fail(code);
    const char* file = sqlite3_db_filename(handle_, "main");
    database_opened(this, file == nullptr ? "" : file);
    // Files come from anywhere: their triggers and views may call no function with side effects, and nobody may damage
    // the file by means of SQL.
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
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
    return 1;  // a rollback instead
  }
}

void SqliteHandle::on_rollback(void* handle) noexcept {
  auto& self = *static_cast<SqliteHandle*>(handle);
  ++self.rollbacks_;
  self.uncommitted_ = false;
  forget_spoilt_transaction(self.handle_);
  if (self.hooks_ != nullptr) self.hooks_->after_rollback();
}

// SQLite tells of a commit before it happens, when it may still fail, and of the end of a transaction that has written
// nothing not at all. So what counts is that a transaction was open, is not any more, and was not rolled back.
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
    if (cancellation_ != nullptr) cancellation_->check();  // throws, saying whether it was the user or the timeout
    throw Error(kind, "the statement was cancelled");
  }
  if (kind == ErrorKind::MemoryLimit) throw out_of_memory(name_);
  // SQLite has several codes for what its authorizer denied.
  if (const auto denial = std::exchange(denial_, {}); !denial.empty())
    throw Error(denial_kind_, denial, std::nullopt, denial_hint_);
  if (kind == ErrorKind::Conflict) {
    throw Error(kind, "another connection has changed the database since this transaction began to read", std::nullopt,
                hint_for(kind));
  }
  // SQLite does not wait there: if the other commits, what was read is of the past.
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
