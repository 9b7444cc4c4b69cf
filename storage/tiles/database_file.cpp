#include "storage/tiles/database_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <new>
#include <optional>
#include <string_view>
#include <thread>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "common/open_databases.hpp"
#include "storage/files/scratch_file.hpp"
#include "storage/shards/shard_log.hpp"
#include "storage/shards/sharded_contents.hpp"
#include "storage/sqlite/mapped_reads.hpp"
#include "storage/sqlite/schema_version.hpp"

namespace eindb {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kApplicationId = 0x45494E44;  // "EIND"
constexpr std::chrono::milliseconds kBusyTimeout{5000};
constexpr std::chrono::milliseconds kBusyPause{10};
/// The limit of Debian's SQLite for mappings; bytes beyond it are read by pread.
constexpr std::int64_t kMappedBytes = 0x7FFF0000;
/// Holds the pages of a few tiles that are being written, so that their zeros are not written to the file first.
constexpr std::int64_t kCacheKiB = 64 * 1024;
constexpr std::int64_t kSmallestCacheKiB = 256;
/// Readers of tiles visit each page once, so a small cache suffices.
constexpr std::int64_t kReaderCacheKiB = 256;
/// Divisors of the memory limit: for all mapped pages, and for pages waiting to be written.
constexpr std::int64_t kMappedShare = 16;
constexpr std::int64_t kCacheShare = 32;
/// SQLite's message for a file that is no SQLite database.
constexpr std::string_view kNotADatabase = "the file is not a database";

[[noreturn]] void cannot_open(ErrorKind kind, const std::string& path, const std::string& why, std::string hint) {
  throw Error(kind, "cannot open " + path + ": " + why, std::nullopt, std::move(hint));
}

void require_directory(const std::string& path) {
  const auto directory = fs::path(path).parent_path();
  std::error_code ignored;
  if (directory.empty() || fs::is_directory(directory, ignored)) return;
  const bool exists = fs::exists(directory, ignored);
  cannot_open(ErrorKind::Io, path, directory.string() + (exists ? " is not a directory" : " does not exist"),
              exists ? "give a path inside a directory" : "make the directory first: mkdir -p " + directory.string());
}

/// Whether there is a file at `path`; throws if it can never be a database. Its content is checked by SQLite, which
/// first recovers it after a crash; no other code may open it (common/open_databases.hpp).
bool is_file(const std::string& path) {
  if (path.empty()) throw Error(ErrorKind::Io, "the path of the database is empty", std::nullopt, "use :memory:");
  if (path.find('\0') != std::string::npos) throw Error(ErrorKind::Io, "the path of the database has a zero byte");
  std::error_code error;
  const auto status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    require_directory(path);
    return false;
  }
  if (fs::is_directory(status)) cannot_open(ErrorKind::Io, path, "it is a directory", "give the path of a file in it");
  if (status.type() == fs::file_type::none)
    cannot_open(ErrorKind::Io, path, error.message(), "check the path and its permissions");
  if (!fs::is_regular_file(status)) cannot_open(ErrorKind::Io, path, "it is not a regular file", "give another path");
  if (::access(path.c_str(), R_OK) != 0)
    cannot_open(ErrorKind::Io, path, std::strerror(errno), "check the permissions of the file");
  return true;
}

/// SQLite only reports that it cannot open a file; the system tells what is not writable.
void require_writable(const std::string& path) {
  std::error_code ignored;
  const auto parent = fs::path(path).parent_path();
  const std::string directory = parent.empty() ? "." : parent.string();
  if (fs::exists(path, ignored) && ::access(path.c_str(), W_OK) != 0) {
    cannot_open(ErrorKind::ReadOnly, path, std::string("the file cannot be written: ") + std::strerror(errno),
                "open it read-only, or change its permissions");
  }
  if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    cannot_open(ErrorKind::ReadOnly, path, directory + " cannot be written: " + std::strerror(errno),
                "use another directory, or open an existing database read-only");
  }
}

/// Rethrows a failure to attach a file, which SQLite tells of as one of the session's own.
[[noreturn]] void explain_attached(const Error& error, const std::string& path, const std::string& own_path) {
  auto why = error.message();
  if (why.starts_with("cannot ")) throw error;
  if (why.starts_with(own_path + ": ")) why.erase(0, own_path.size() + 2);
  auto hint = error.hint();
  if (error.kind() == ErrorKind::Corrupt)
    hint =
        why == kNotADatabase ? "give the path of a database; COPY reads other files" : "restore the file from a copy";
  if (error.kind() == ErrorKind::Io || error.kind() == ErrorKind::ReadOnly)
    hint = "check that the file and its directory can be read; opening it by itself completes what a crash left behind";
  if (why.starts_with("too many attached databases")) hint = "DETACH one of them first";
  throw Error(error.kind(), "cannot attach " + path + ": " + why, std::nullopt, std::move(hint));
}

/// Rethrows a failure to open or create a file with SQLite's message, the path and a remedy.
[[noreturn]] void explain(const Error& error, const std::string& path) {
  auto why = error.message();
  if (why.starts_with("cannot open ")) throw error;
  if (why.starts_with(path + ": ")) why.erase(0, path.size() + 2);
  switch (error.kind()) {
    case ErrorKind::Io:
    case ErrorKind::ReadOnly:
      cannot_open(error.kind(), path, why, "check that the file and its directory can be written");
    case ErrorKind::Corrupt:
      if (why == kNotADatabase)
        cannot_open(error.kind(), path, why,
                    "give the path of a database, or of a new file; a damaged one is restored from a copy");
      cannot_open(error.kind(), path, why, "restore the file from a copy");
    case ErrorKind::Busy:
      cannot_open(error.kind(), path, "another program has locked it", "try again when the other is done");
    default: throw error;
  }
}

bool has_bytes(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return !error && size > 0;
}

/// Deletes a file created here if it is still empty, since another program may have begun to use it as a database.
void remove_empty(const std::string& path) {
  std::error_code ignored;
  if (has_bytes(path) || has_bytes(path + "-wal") || is_of_open_database(AT_FDCWD, path)) return;
  fs::remove(path, ignored);
}

/// Whether the file has no content: it was empty, or the machine crashed during its setup.
bool is_blank(SqliteConnection& connection) {
  return connection.query_integer("PRAGMA main.page_count") <= 1 &&
         connection.query_integer("PRAGMA main.application_id") == 0 &&
         connection.query_integer("PRAGMA main.user_version") == 0 &&
         connection.query_integer("SELECT COUNT(*) FROM main.sqlite_schema") == 0;
}

/// Reads the first page. Before that, SQLite has neither looked at the file nor recovered it after a crash.
void touch(SqliteConnection& connection) { connection.query_integer("SELECT COUNT(*) FROM main.sqlite_schema"); }

}  // namespace

DatabaseFile::DatabaseFile(const std::string& path, Access access, FreePages free_pages)
    : path_(path),
      in_memory_(path == ":memory:"),
      read_only_(access == Access::ReadOnly),
      mapped_bytes_(kMappedBytes),
      cache_kib_(kCacheKiB) {
  if (in_memory_) open_memory();
  else open_file(free_pages);
  CHECK(connection_ != nullptr, "a database that is open has its connection");
}

void DatabaseFile::open_file(FreePages free_pages) {
  const auto last = std::chrono::steady_clock::now() + kBusyTimeout;
  // If others set up the write-ahead log at the same time, SQLite fails immediately instead of waiting.
  const auto has_to_wait = [&](const Error& error) {
    return error.kind() == ErrorKind::Busy && std::chrono::steady_clock::now() < last;
  };
  for (bool is_open = false; !is_open;) {
    const bool exists = is_file(path_);
    if (!exists && read_only_)
      cannot_open(ErrorKind::Io, path_, "it does not exist", "leave out the read-only option to create it");
    try {
      if (exists) open_existing(free_pages);
      else open_new(free_pages);
      is_open = true;
    } catch (const Error& error) {
      connection_.reset();
      if (has_to_wait(error)) {
        poll_cancellation();
        std::this_thread::sleep_for(kBusyPause);
        continue;
      }
      if (!exists) remove_empty(path_);
      if (!read_only_ && (error.kind() == ErrorKind::Io || error.kind() == ErrorKind::ReadOnly))
        require_writable(path_);
      explain(error, path_);
    }
  }
}

void DatabaseFile::configure(SqliteConnection& connection) const {
  connection.set_busy_timeout(kBusyTimeout);
  configure_memory(connection, cache_kib_);
  connection.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF; PRAGMA secure_delete = OFF");
}

void DatabaseFile::configure_memory(SqliteConnection& connection, std::int64_t cache_kib) const {
  survive_unreadable_pages();
  connection.execute("PRAGMA main.mmap_size = " + std::to_string(mapped_bytes_));
  connection.execute("PRAGMA main.cache_size = -" + std::to_string(cache_kib));
}

// Attached files are not mapped into memory: an unreadable page of theirs fails as a system call, with an error.
// A file that cannot be mapped as a whole is not mapped, but read by pread, which takes up to twice as long.
void DatabaseFile::limit_memory(std::int64_t bytes, int readers, std::int64_t own_bytes) {
  if (in_memory_) return;
  CHECK(bytes >= 0 && readers >= 0, "memory is divided among readers that can be counted");
  struct stat file {};
  const bool fits = ::stat(path_.c_str(), &file) == 0 && file.st_size <= bytes / kMappedShare / (readers + 1);
  const auto mapped = fits ? kMappedBytes : 0;
  const auto cache = std::clamp(own_bytes / kCacheShare / 1024, kSmallestCacheKiB, kCacheKiB);
  if (mapped == mapped_bytes_ && cache == cache_kib_) return;
  mapped_bytes_ = mapped;
  cache_kib_ = cache;
  configure_memory(*connection_, cache_kib_);
  const std::lock_guard lock(readers_mutex_);
  idle_readers_.clear();
}

void DatabaseFile::release_pages() noexcept {
  connection_->release_pages();
  const std::lock_guard lock(readers_mutex_);
  idle_readers_.clear();
}

void DatabaseFile::open_memory() {
  connection_ = std::make_unique<SqliteConnection>(path_, SqliteConnection::Access::Create);
  connection_->execute("PRAGMA page_size = 65536");
  configure(*connection_);
  if (read_only_) connection_->execute("PRAGMA query_only = ON");
}

void DatabaseFile::open_new(FreePages free_pages) {
  connection_ = std::make_unique<SqliteConnection>(path_, SqliteConnection::Access::Create);
  connection_->set_busy_timeout(kBusyTimeout);
  connection_->execute("PRAGMA page_size = 65536");
  // Writes the first page, which fixes the page size.
  if (free_pages == FreePages::GivenBack) connection_->execute("PRAGMA auto_vacuum = INCREMENTAL");
  write_ahead_log_ = connection_->query_text("PRAGMA journal_mode = WAL") == "wal";
  configure(*connection_);
  connection_->execute("PRAGMA application_id = " + std::to_string(kApplicationId));
  connection_->execute("PRAGMA user_version = " + std::to_string(kSchemaVersion));
}

void DatabaseFile::open_existing(FreePages free_pages) {
  const auto open = [&](SqliteConnection::Access access) {
    connection_ = std::make_unique<SqliteConnection>(path_, access);
    configure(*connection_);
    touch(*connection_);
  };
  try {
    open(read_only_ ? SqliteConnection::Access::ReadOnly : SqliteConnection::Access::ReadWrite);
  } catch (const Error& error) {
    // In a read-only directory the index of the log cannot be created. Without a log no index is needed.
    if (!read_only_ || (error.kind() != ErrorKind::Io && error.kind() != ErrorKind::ReadOnly)) throw;
    if (has_bytes(path_ + "-journal")) {
      cannot_open(ErrorKind::ReadOnly, path_, "a program ended amid a change of it, which has to be undone first",
                  "open it once without the read-only option");
    }
    if (has_bytes(path_ + "-wal")) throw;
    open(SqliteConnection::Access::Immutable);
  }
  if (!read_only_ && connection_->is_read_only())
    cannot_open(ErrorKind::ReadOnly, path_, "the file cannot be written",
                "open it read-only, or change its permissions");
  if (!read_only_ && is_blank(*connection_)) return open_new(free_pages);
  verify_versions(path_, kMainSchema);
  write_ahead_log_ = connection_->query_text("PRAGMA journal_mode") == "wal";
}

void DatabaseFile::verify_versions(const std::string& path, std::string_view schema) {
  const auto quoted = quote_identifier(schema);
  std::int64_t version = 0;
  if (connection_->query_integer("PRAGMA " + quoted + ".application_id") == kApplicationId)
    version = connection_->query_integer("PRAGMA " + quoted + ".user_version");
  if (connection_->has_table("eindb_settings", {"name", "value"}, schema)) {
    auto query = connection_->prepare("SELECT value FROM " + quoted + ".eindb_settings WHERE name = 'schema_version'");
    if (query.step()) version = std::max(version, query.integer(0));
  }
  if (version <= kShardedSchemaVersion) return;
  throw Error(ErrorKind::Unsupported,
              "cannot open " + path + ": a later eindb made it (schema version " + std::to_string(version) +
                  ", this one knows " + std::to_string(kShardedSchemaVersion) + ")",
              std::nullopt, "install a later eindb");
}

void DatabaseFile::attach(const std::string& path, const std::string& schema) {
  if (path == ":memory:" || !is_file(path))
    throw Error(ErrorKind::Io, "cannot attach " + path + ": there is no such file", std::nullopt,
                "ATTACH makes no file: check the path, or make a database of it first, as by eindb " + path);
  require_other_file(path);
  try {
    attach_existing(path, schema);
  } catch (const Error& error) {
    explain_attached(error, path, connection_->name());
  }
  try {
    verify_versions(path, schema);
  } catch (...) {
    connection_->detach(schema);
    throw;
  }
}

void DatabaseFile::require_other_file(const std::string& path) const {
  std::error_code ignored;
  if (!in_memory_ && fs::equivalent(path, path_, ignored))
    throw Error(ErrorKind::DuplicateName, "cannot attach " + path + ": it is the session's own database", std::nullopt,
                "its tensors need no schema, or main: EINSUM Z[i] = main.X[i]");
  for (const auto& each : connection_->attached())
    if (fs::equivalent(path, each.path, ignored))
      throw Error(ErrorKind::DuplicateName, "cannot attach " + path + ": it is attached already, as " + each.schema,
                  std::nullopt, "use that name, or DETACH " + each.schema + " first");
}

// As in open_existing(): without a log a file needs no index of it, which its directory may not take.
void DatabaseFile::attach_existing(const std::string& path, const std::string& schema) {
  using Attached = SqliteConnection::Attached;
  try {
    connection_->attach(schema, path, Attached::Locked);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Io && error.kind() != ErrorKind::ReadOnly) throw;
    if (has_bytes(path + "-journal") || has_bytes(path + "-wal")) throw;
    connection_->attach(schema, path, Attached::Immutable);
  }
}

void DatabaseFile::use_shards(std::shared_ptr<ShardAccess> access) {
  CHECK(access != nullptr, "workers are reached by way of somebody");
  connection_->set_log_follower(access->log_follower());
  if (!read_only_) {
    ShardLog(*connection_).create();
    access->numbers().reserve([this] { return ShardLog(*connection_).take_block(); });
  }
  shards_ = std::move(access);
  auto& contents = ShardedContents::begin(*connection_, shards_);
  if (!read_only_) contents.settle();
}

void DatabaseFile::settle_shards() {
  if (shards_ == nullptr) return;
  auto* contents = ShardedContents::of(*connection_);
  CHECK(contents != nullptr, "the connection of a sharded database has its contents");
  if (contents->is_unsettled()) contents->settle();
}

// Asked for by each statement: fs::path takes names apart, which takes longer.
std::string DatabaseFile::scratch_directory() const {
  if (in_memory_) return {};
  const auto slash = path_.rfind('/');
  if (slash == std::string::npos) return ".";
  const auto last = path_.find_last_not_of('/', slash);
  return last == std::string::npos ? "/" : path_.substr(0, last + 1);
}

std::unique_ptr<SqliteConnection> DatabaseFile::borrow_reader() {
  CHECK(!in_memory_, "a database in memory has the one connection");
  {
    const std::lock_guard lock(readers_mutex_);
    if (!idle_readers_.empty()) {
      auto reader = std::move(idle_readers_.back());
      idle_readers_.pop_back();
      CHECK(!reader->in_transaction(), "a reader is lent with no transaction open");
      return reader;
    }
  }
  auto reader = std::make_unique<SqliteConnection>(path_, SqliteConnection::Access::ReadOnly);
  {  // it may lie where one was that is closed
    const std::lock_guard lock(readers_mutex_);
    noting_reader_ = nullptr;
  }
  configure(*reader);
  configure_memory(*reader, kReaderCacheKiB);
  if (shards_ != nullptr) ShardedContents::begin(*reader, shards_);
  return reader;
}

std::optional<std::int64_t> DatabaseFile::noted_commits(const SqliteConnection& reader) {
  const std::lock_guard lock(readers_mutex_);
  return noting_reader_ == &reader ? std::optional(noted_commits_) : std::nullopt;
}

void DatabaseFile::note_commits(const SqliteConnection& reader, std::int64_t commits) {
  const std::lock_guard lock(readers_mutex_);
  noting_reader_ = &reader;
  noted_commits_ = commits;
}

void DatabaseFile::give_back(std::unique_ptr<SqliteConnection> reader) noexcept {
  const std::lock_guard lock(readers_mutex_);
  try {
    idle_readers_.push_back(std::move(reader));
  } catch (const std::bad_alloc&) {  // the reader is closed instead
  }
}

}  // namespace eindb
