#pragma once

#include <eindb/eindb.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sqlite/host.hpp"

namespace eindb_sqlite {

/// One state of the file: a transaction that only reads, which ends with its last holder.
class FileState {
 public:
  /// Begins it. eindb::Exception where it cannot.
  explicit FileState(std::shared_ptr<eindb::Connection> connection);
  ~FileState();
  FileState(const FileState&) = delete;
  FileState& operator=(const FileState&) = delete;

  eindb::Connection& connection() const { return *connection_; }

 private:
  std::shared_ptr<eindb::Connection> connection_;
};
using FileStatePtr = std::shared_ptr<const FileState>;

/// The part of eindb that one connection of the host has: a connection of eindb's own to the same file, which is opened
/// when it is first needed, and one in memory for what needs no file.
///
///     the host's connection --callbacks--> extension --eindb::Connection--> the same file, by the same SQLite
///
/// The two connections are two for SQLite as well: each sees what the other has committed, and locks hold between them.
/// Therefore the file is opened only where the host's SQLite is the library that eindb is linked with: locks of POSIX
/// belong to a process, and of two SQLites in it each would drop those of the other.
///
/// Owned by the functions and modules that the extension has registered, and so ends with the host's connection.
/// Threads: those of the host's connection.
class Database {
 public:
  explicit Database(sqlite3* host) : host_(host) {}
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  sqlite3* host() const { return host_; }

  /// The connection for what reads; the file stays as it is. HostError where it must not be opened, eindb::Exception
  /// where it cannot.
  eindb::Connection& reading();
  /// The connection for what may write. HostError{SQLITE_BUSY} where the host's own transaction has locked the file,
  /// since that would wait for itself.
  eindb::Connection& writing();
  /// The state that the file has now, or that somebody holds who came before, unless this connection has written
  /// since. Cursors hold it while they are open, so that a statement of the host reads one state, whatever others
  /// commit. Null where the statements of eindb's own transaction see its state anyway, and where there is no file with
  /// tensors: then reading() is right.
  FileStatePtr hold_state();
  /// The one of them that a statement of eindb needs, by its first words.
  eindb::Connection& for_statement(std::string_view text);
  /// A database in memory, for queries over nothing but tensors that are attached.
  eindb::Connection& in_memory();

  /// Whether the file has tensors, as far as that is known without opening it.
  bool may_have_tensors() const;
  /// The names of all tensors; none where may_have_tensors() is false. They are known also where the file must not be
  /// opened.
  std::vector<std::string> tensor_names();

  /// Runs `work`, which executes statements of the connection, on a thread of its own, and cancels them when the host's
  /// statement is interrupted. Throws what `work` throws.
  void run_interruptibly(eindb::Connection& connection, const std::function<void()>& work);

 private:
  void require_linked_sqlite() const;
  void refuse_own_locks() const;
  void refuse_without_write_ahead_log() const;

  sqlite3* host_;
  std::shared_ptr<eindb::Connection> file_;  // of the host's file; of its own database in memory where that has no file
  bool reads_only_ = false;                  // file_ is read-only
  std::optional<eindb::Connection> memory_;  // where file_ is that of a file
  std::weak_ptr<const FileState> state_;     // of file_
};

/// Whether a statement of eindb's is a query by its first words: EINSUM, SELECT, VALUES, WITH, EXPLAIN, SHOW, DESCRIBE.
/// WITH may be the beginning of an UPDATE TENSOR nonetheless.
bool begins_query(std::string_view text);
/// The same without WITH.
bool begins_reading(std::string_view text);
/// The same as begins_query() without what does more than read: EXPLAIN ANALYZE runs what it explains, SHOW and
/// DESCRIBE have other columns each time.
bool begins_pure_query(std::string_view text);

}  // namespace eindb_sqlite
