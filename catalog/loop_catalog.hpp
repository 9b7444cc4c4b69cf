#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// A loop that has not come to its end: it runs, or was cut off.
struct UnfinishedLoop {
  std::int64_t done = 0;  ///< rounds that are committed, from the first on
  std::int64_t run = 0;   ///< a number of the run that committed them last, which no other run has
};

/// How far loops have come, in a table of the database, so that one that was cut off can go on:
///
///     eindb_loops(loop TEXT PRIMARY KEY, done INTEGER, run INTEGER)
///
/// `loop` is a digest of what the loop does: what it is told by is the caller's to say. A row is written in the
/// transaction of the rounds that it counts, and goes in that of the last. A database may come from anywhere: a row
/// that cannot be is Error{Corrupt}. Changes happen inside the caller's SqliteTransaction. Threads: as its connection,
/// which must outlive it.
class LoopCatalog {
 public:
  explicit LoopCatalog(SqliteConnection& connection) : connection_(connection) {}

  std::optional<UnfinishedLoop> find(std::string_view loop);
  /// In place of what is known of the loop, if anything is.
  void put(std::string_view loop, const UnfinishedLoop& state);
  void drop(std::string_view loop);

 private:
  bool exists();

  SqliteConnection& connection_;
};

}  // namespace eindb
