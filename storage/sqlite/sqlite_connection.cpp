#include "storage/sqlite/sqlite_connection.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "common/check.hpp"
#include "common/letter_case.hpp"
#include "common/open_databases.hpp"
#include "storage/sqlite/sqlite_authorizer.hpp"

namespace eindb {
namespace {

bool mentions_reserved_name(std::string_view sql) {
  for (std::size_t i = 0; i + 6 <= sql.size(); ++i)
    if (sqlite3_strnicmp(sql.data() + i, "eindb_", 6) == 0) return true;
  return false;
}

}  // namespace

// A file counts as open before SQLite locks it, and until SQLite has closed it.
class SqliteConnection::AttachedFile {
 public:
  AttachedFile(std::string schema, std::string path) : named_{std::move(schema), std::move(path)} {
    database_opened(this, named_.path);
  }
  ~AttachedFile() { database_closed(this); }
  AttachedFile(const AttachedFile&) = delete;
  AttachedFile& operator=(const AttachedFile&) = delete;

  const AttachedDatabase& named() const { return named_; }
  /// Whether the version differs from the last one seen.
  bool notes_cookie(std::uint32_t cookie) { return std::exchange(cookie_, cookie) != cookie; }
  bool notes_commits(std::uint32_t commits) { return std::exchange(commits_, commits) != commits; }

 private:
  AttachedDatabase named_;
  std::uint32_t cookie_ = 0;   // of its schema
  std::uint32_t commits_ = 0;  // as SQLite counts those of others
};

SqliteConnection::SqliteConnection(const std::string& location, Access access) : SqliteHandle(location, access) {
  SqliteAuthorizer::install(*this);
}

SqliteConnection::~SqliteConnection() {
  kept_.clear();
  close();
}

void SqliteConnection::execute(const std::string& sql) {
  const OriginScope scope(*this, Origin::Eindb);
  const int code = sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr);
  notice_commit();
  if (code != SQLITE_OK) fail(code);
  require_readable();
}

SqliteStatement SqliteConnection::prepare(std::string_view sql) {
  CHECK(sql.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max()), "eindb's own SQL fits 31 bits");
  const OriginScope scope(*this, Origin::Eindb);
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(handle(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) fail(code);
  CHECK(statement != nullptr, "eindb's own SQL is a statement");
  SqliteStatement prepared(*this, statement, false);
  require_readable();
  return prepared;
}

SqliteStatement& SqliteConnection::kept(std::string_view sql) {
  const auto known = kept_.find(sql);
  if (known != kept_.end()) {
    DCHECK(sqlite3_stmt_busy(known->second.statement_) == 0, "a kept statement is at rest when it is asked for");
    return known->second;
  }
  return kept_.emplace(sql, prepare(sql)).first->second;
}

void SqliteConnection::execute_kept(std::string_view sql) { kept(sql).run(); }

std::int64_t SqliteConnection::query_integer(std::string_view sql) {
  auto& statement = kept(sql);
  // Resets the statement even if it fails, since a running statement would hold a transaction.
  struct Reset {
    SqliteStatement& statement;
    ~Reset() { statement.reset(); }
  } const reset{statement};
  CHECK(statement.step(), "the query gives one row");
  return statement.integer(0);
}

std::string SqliteConnection::query_text(std::string_view sql) {
  auto statement = prepare(sql);
  CHECK(statement.step(), "the query gives one row");
  return statement.text(0);
}

UserStatement SqliteConnection::prepare_user(std::string_view sql) {
  if (sql.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw Error(ErrorKind::Unsupported, "a statement of more than 2 GiB");
  const OriginScope scope(*this, Origin::UserPrepare);
  altered_table_ = false;
  sqlite3_stmt* raw = nullptr;
  const char* tail = sql.data();
  const int code = sqlite3_prepare_v2(handle(), sql.data(), static_cast<int>(sql.size()), &raw, &tail);
  if (code != SQLITE_OK) fail(code, sql);
  CHECK(tail >= sql.data() && tail <= sql.data() + sql.size(), "a statement ends within its text");
  UserStatement result{.statement = std::nullopt, .tail = static_cast<std::size_t>(tail - sql.data())};
  if (raw == nullptr) return result;
  result.statement = SqliteStatement(*this, raw, true);
  require_readable();
  // SQLite does not tell the authorizer the new name of ALTER TABLE ... RENAME TO.
  if (altered_table_ && mentions_reserved_name(sql.substr(0, result.tail)))
    throw Error(ErrorKind::ReadOnly, "names that begin with eindb_ belong to eindb", std::nullopt, "use another name");
  return result;
}

bool SqliteConnection::has_table(const std::string& table, std::initializer_list<const char*> columns,
                                 std::string_view schema) {
  // The query below uses the cached schema. This makes SQLite reload it if another connection changed it.
  const auto read = schema == kTemporarySchema ? kMainSchema : schema;
  query_value("SELECT 1 FROM " + quote_identifier(read) + ".sqlite_schema LIMIT 1", {});
  return std::all_of(columns.begin(), columns.end(), [&](const char* column) {
    return sqlite3_table_column_metadata(handle(), std::string(schema).c_str(), table.c_str(), column, nullptr, nullptr,
                                         nullptr, nullptr, nullptr) == SQLITE_OK;
  });
}

bool SqliteConnection::has_schema(const std::string& schema) const {
  return sqlite3_db_readonly(handle(), schema.c_str()) >= 0;
}

// ---- Attached databases

void SqliteConnection::attach(const std::string& schema, const std::string& path, Attached how) {
  CHECK(!in_transaction(), "databases are attached outside of transactions");
  refuse_as_database(path);
  auto file = std::make_unique<AttachedFile>(schema, std::filesystem::canonical(path).string());
  attached_.reserve(attached_.size() + 1);
  prepare("ATTACH ? AS ?")
      .bind(1, file_uri(file->named().path, how == Attached::Locked ? "mode=ro" : "immutable=1"))
      .bind(2, schema)
      .run();
  attached_.push_back(std::move(file));
  ++attached_changes_;
}

void SqliteConnection::detach(std::string_view schema) {
  CHECK(!in_transaction(), "databases are detached outside of transactions");
  const auto* file = find_attached(schema);
  CHECK(file != nullptr, "what is detached was attached");
  if (sqlite3_txn_state(handle(), file->named().schema.c_str()) != SQLITE_TXN_NONE) {
    throw Error(ErrorKind::Busy, "the database " + file->named().schema + " is in use: a statement still reads it",
                std::nullopt, "read the rows of that statement to their end, or close them");
  }
  prepare("DETACH ?").bind(1, file->named().schema).run();
  std::erase_if(attached_, [&](const auto& each) { return each.get() == file; });
  ++attached_changes_;
}

std::vector<AttachedDatabase> SqliteConnection::attached() const {
  std::vector<AttachedDatabase> out;
  for (const auto& file : attached_) out.push_back(file->named());
  return out;
}

SqliteConnection::AttachedFile* SqliteConnection::find_attached(std::string_view schema) const {
  const auto found = std::find_if(attached_.begin(), attached_.end(),
                                  [&](const auto& file) { return equal_ignoring_case(file->named().schema, schema); });
  return found == attached_.end() ? nullptr : found->get();
}

std::optional<std::string> SqliteConnection::attached_schema(std::string_view name) const {
  const auto* file = find_attached(name);
  return file == nullptr ? std::nullopt : std::optional(file->named().schema);
}

std::string SqliteConnection::file_of(std::string_view schema) const {
  const auto* file = find_attached(schema);
  return file == nullptr ? name() : file->named().path;
}

std::string SqliteConnection::attached_pragma(const AttachedFile& file, std::string_view pragma) const {
  return "PRAGMA " + quote_identifier(file.named().schema) + "." + std::string(pragma);
}

// Reading makes SQLite notice the commits of others, and within a transaction keeps the state that it read.
void SqliteConnection::look_at_attached() {
  for (const auto& file : attached_)
    if (file->notes_cookie(static_cast<std::uint32_t>(query_integer(attached_pragma(*file, "schema_version")))))
      ++attached_changes_;
  note_attached();
}

void SqliteConnection::note_attached() {
  for (const auto& file : attached_) {
    std::uint32_t commits = 0;
    sqlite3_file_control(handle(), file->named().schema.c_str(), SQLITE_FCNTL_DATA_VERSION, &commits);
    if (file->notes_commits(commits)) ++attached_changes_;
  }
}

bool SqliteConnection::is_active() const {
  return in_transaction() || sqlite3_txn_state(handle(), "main") != SQLITE_TXN_NONE;
}

bool SqliteConnection::has_written() const { return sqlite3_txn_state(handle(), "main") == SQLITE_TXN_WRITE; }

// A statement that may write takes the lock before it looks for rows; this one finds none.
void SqliteConnection::begin_writing() {
  CHECK(in_transaction(), "the right to write is taken for a transaction");
  if (!has_written()) execute_kept("DELETE FROM main.eindb_tensors WHERE 0");
}

SqliteConnection::ChangePoint SqliteConnection::change_point() {
  return {sqlite3_total_changes64(handle()) + static_cast<std::int64_t>(blobs_written_),
          query_integer("PRAGMA main.schema_version")};
}

bool SqliteConnection::sees_committed_state() {
  return in_transaction() && clean_point_ && *clean_point_ == change_point();
}

std::int64_t SqliteConnection::changes() const { return sqlite3_changes64(handle()); }

std::int64_t SqliteConnection::last_insert_rowid() const { return sqlite3_last_insert_rowid(handle()); }

bool SqliteConnection::is_read_only() const { return sqlite3_db_readonly(handle(), "main") == 1; }

std::uint64_t SqliteConnection::schema_version() {
  const auto cookie = static_cast<std::uint32_t>(query_integer("PRAGMA main.schema_version"));
  // Temporary tables are this connection's own. All parts only grow.
  const auto temporary = static_cast<std::uint32_t>(query_integer("PRAGMA temp.schema_version"));
  look_at_attached();
  return (std::uint64_t{rollbacks_} << 32U) + cookie + temporary + attached_changes_;
}

std::uint32_t SqliteConnection::commits_of_others() {
  return static_cast<std::uint32_t>(query_integer("PRAGMA main.data_version"));
}

std::uint64_t SqliteConnection::data_version() {
  std::uint32_t commits = 0;
  sqlite3_file_control(handle(), "main", SQLITE_FCNTL_DATA_VERSION, &commits);
  note_attached();
  // The sum of counters that only grow, in small steps, so that it never repeats.
  return (std::uint64_t{commits} << 32U) + static_cast<std::uint64_t>(sqlite3_total_changes64(handle())) + rollbacks_ +
         blobs_written_ + attached_changes_;
}

std::uint64_t SqliteConnection::current_data_version() {
  // BEGIN alone reads nothing. Any read makes SQLite notice the commits of others, which a file without a name has not.
  const char* name = sqlite3_db_filename(handle(), "main");
  const bool is_private = name == nullptr || *name == '\0';
  if (!is_private && sqlite3_txn_state(handle(), "main") == SQLITE_TXN_NONE)
    query_integer("PRAGMA main.schema_version");
  for (const auto& file : attached_)
    if (sqlite3_txn_state(handle(), file->named().schema.c_str()) == SQLITE_TXN_NONE)
      query_integer(attached_pragma(*file, "schema_version"));
  return data_version();
}

void SqliteConnection::limit_memory_of_all(std::int64_t bytes) { sqlite3_hard_heap_limit64(bytes); }

bool SqliteConnection::is_memory_short() {
  const auto limit = sqlite3_hard_heap_limit64(-1);
  return limit > 0 && sqlite3_memory_used() > limit / 2;
}

void SqliteConnection::release_pages() noexcept { sqlite3_db_release_memory(handle()); }

// A checkpoint moves all frames of the log into the file only if no reader needs an older page of it.
bool SqliteConnection::all_read_the_last_commit() {
  int frames = -1;
  int moved = -1;
  const int code = sqlite3_wal_checkpoint_v2(handle(), "main", SQLITE_CHECKPOINT_PASSIVE, &frames, &moved);
  return code == SQLITE_OK && frames == moved;
}

}  // namespace eindb
