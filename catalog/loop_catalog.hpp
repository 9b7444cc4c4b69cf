#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// A loop that has not ended: it is running, or was interrupted.
struct UnfinishedLoop {
  std::int64_t done = 0;  ///< committed rounds, counted from the first
  std::int64_t run = 0;   ///< a unique number of the run that committed last
};

/// The progress of loops, in a table of the database, so that an interrupted loop can continue:
///
///     eindb_loops(loop TEXT PRIMARY KEY, done INTEGER, run INTEGER)
///
/// `loop` identifies the loop's work by a digest that the caller chooses. A row is written in the transaction of the
/// rounds that it counts, and removed in that of the last round. A database may come from anywhere, so an invalid row
/// is Error{Corrupt}. Changes happen inside the caller's SqliteTransaction. Threads: like its connection, which must
/// outlive it.
class LoopCatalog {
 public:
  explicit LoopCatalog(SqliteConnection& connection) : connection_(connection) {}

  std::optional<UnfinishedLoop> find(std::string_view loop);
  /// Replaces the state of the loop, if there is one.
  void put(std::string_view loop, const UnfinishedLoop& state);
  void drop(std::string_view loop);

 private:
  bool exists();

  SqliteConnection& connection_;
};

}  // namespace eindb
