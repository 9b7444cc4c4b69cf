#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/quote_identifier.hpp"  // IWYU pragma: export
#include "storage/sqlite/sql_function.hpp"
#include "storage/sqlite/sqlite_handle.hpp"
#include "storage/sqlite/sqlite_statement.hpp"

namespace eindb {

/// The schema of SQLite that is the database's file, and that of a connection's own temporary tables.
inline constexpr std::string_view kMainSchema = "main";
inline constexpr std::string_view kTemporarySchema = "temp";

/// One statement of a user's text, and the position of the next one.
struct UserStatement {
  std::optional<SqliteStatement> statement;  ///< nullopt if the text holds only spaces and comments
  std::size_t tail = 0;                      ///< offset of the first byte after the statement
};

/// A database of another file, which a connection reads under the name of a schema of SQLite beside its own.
struct AttachedDatabase {
  std::string schema;
  std::string path;  ///< absolute, without symbolic links
};

/// A connection to SQLite. SQLite's errors become eindb::Error, with the database's name in the message.
///
/// The origin of SQL decides its rights. `prepare` and `execute` are for eindb's own SQL, which may write the tables
/// named eindb_*, but never through a trigger. `prepare_user` is for SQL written by users, who may read everything but
/// secrets and write their own tables (see storage/sqlite/sqlite_authorizer.hpp).
///
/// Threads: one at a time, except interrupt(). Tasks that share the connection lock mutex() for each use. Statements
/// and blobs of a connection must not outlive it.
class SqliteConnection : public SqliteHandle {
 public:
  /// `location` is a file's path or ":memory:".
  SqliteConnection(const std::string& location, Access access);
  ~SqliteConnection();

  /// Runs every statement of eindb's own `sql` and discards rows.
  void execute(const std::string& sql);
  SqliteStatement prepare(std::string_view sql);
  /// Runs one own statement without parameters or rows, such as BEGIN, and keeps it compiled.
  void execute_kept(std::string_view sql);
  /// An own statement, kept compiled; the caller resets it.
  SqliteStatement& kept(std::string_view sql);
  /// The first column of the only row of an own query, which is constant text and kept compiled.
  std::int64_t query_integer(std::string_view sql);
  std::string query_text(std::string_view sql);
  /// The first column of the first row of an own query, which is kept compiled; NULL if there is no row. Arguments
  /// beyond the query's parameters are ignored.
  SqliteValue query_value(std::string_view sql, std::span<const SqliteValue> arguments);
  /// Compiles the first statement of `sql`. Errors have a span into `sql` if SQLite reports the position.
  UserStatement prepare_user(std::string_view sql);

  /// Registers the function, replacing another one of the same name and number of arguments. Error{Busy} if that one is
  /// running.
  void add_function(SqlFunction function);

  /// Whether the table (not a view) `table` of the schema has all of `columns`.
  bool has_table(const std::string& table, std::initializer_list<const char*> columns,
                 std::string_view schema = kMainSchema);
  /// Whether SQLite has this schema: main, temp, or an attached one, in any case.
  bool has_schema(const std::string& schema) const;

  /// How the file of another database is read: as long as nobody can write it, or with its locks.
  enum class Attached : std::uint8_t { Locked, Immutable };
  /// Attaches the database in the file, read-only, so that no transaction of this connection locks it for writing.
  /// Outside of transactions. Error{Permission} as refuse_as_database(), others as SQLite's.
  void attach(const std::string& schema, const std::string& path, Attached how);
  /// Error{Busy} while a statement reads it.
  void detach(std::string_view schema);
  /// In the order in which they were attached, which is that in which SQLite looks for names.
  std::vector<AttachedDatabase> attached() const;
  bool has_attached() const { return !attached_.empty(); }
  /// The schema in the case given when it was attached; nullopt if no database is attached by this name.
  std::optional<std::string> attached_schema(std::string_view name) const;
  /// The file of the schema as messages name it.
  std::string file_of(std::string_view schema) const;

  /// True while a write transaction is open, which keeps others from writing.
  bool has_written() const;
  /// Inside a transaction: acquires the write lock before there is anything to write. Error{Busy}, Error{Conflict} or
  /// Error{ReadOnly} if that fails.
  void begin_writing();
  /// True while a read or a write transaction is open, including the implicit one of a running SELECT.
  bool is_active() const;
  /// True inside a SqliteTransaction that has changed nothing yet, so that it sees the committed state.
  bool sees_committed_state();
  /// Rows changed by the last INSERT, UPDATE or DELETE.
  std::int64_t changes() const;
  std::int64_t last_insert_rowid() const;
  bool is_read_only() const;

  /// Changes with every change of the schema that this connection sees, its own rollbacks included, and with every
  /// change of what is attached. Inside a transaction this pins the state of the databases that are attached. For
  /// caches of the catalog.
  std::uint64_t schema_version();

  /// Changes with every change to rows that this connection may see: its own, rolled back or not, and those of others
  /// once a transaction of this connection sees them. For caches within a statement. Runs no SQL.
  std::uint64_t data_version();
  /// To be called when a BLOB is opened for writing, since SQLite does not count that as a change.
  void note_blob_write() { ++blobs_written_; }
  /// Changes with every commit of other connections that this one may see. Runs a little SQL.
  std::uint32_t commits_of_others();
  /// Like data_version(), but reads the file if no transaction has read yet. Inside a transaction this pins the state
  /// that the result describes.
  std::uint64_t current_data_version();

  /// From now on users' SQL has the smaller rights of a server's clients (storage/sqlite/sqlite_authorizer.hpp).
  void restrict_to_clients() { for_clients_ = true; }

  /// From now on users' SQL reads and writes only the tables of the database that these rights include, as of when it
  /// is compiled. Null lifts that.
  void limit_to(std::shared_ptr<const TableRights> rights) { rights_ = std::move(rights); }

  /// Limits the memory of SQLite for all connections of the process; requests beyond it fail with Error{MemoryLimit}.
  /// Thread-safe.
  static void limit_memory_of_all(std::int64_t bytes);
  /// Whether all connections together use more than half of the limit.
  static bool is_memory_short();
  /// Frees cached pages that no statement uses.
  void release_pages() noexcept;

  /// Whether no connection of any process reads a state older than the last commit, as far as that is known without
  /// waiting. To be called outside any transaction; moves the write-ahead log into the file.
  bool all_read_the_last_commit();

  /// Guards tile reads and writes of several tasks on this one connection.
  std::mutex& mutex() { return mutex_; }

 private:
  friend class SqliteTransaction;

  /// Changes with every change that this connection makes.
  struct ChangePoint {
    std::int64_t rows = 0;    ///< written so far
    std::int64_t schema = 0;  ///< SQLite's schema cookie
    friend bool operator==(const ChangePoint&, const ChangePoint&) = default;
  };
  ChangePoint change_point();

  /// A database that is attached, as this connection last saw it.
  class AttachedFile;
  AttachedFile* find_attached(std::string_view schema) const;
  std::string attached_pragma(const AttachedFile& file, std::string_view pragma) const;
  void note_attached();
  void look_at_attached();

  std::mutex mutex_;
  std::uint64_t blobs_written_ = 0;
  std::optional<ChangePoint> clean_point_;                    // at the beginning of the outermost SqliteTransaction
  std::map<std::string, SqliteStatement, std::less<>> kept_;  // compiled and reset
  std::vector<std::unique_ptr<AttachedFile>> attached_;
  std::uint64_t attached_changes_ = 0;  // seen in what is attached, or in which files are
};

}  // namespace eindb
