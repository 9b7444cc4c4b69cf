#include "catalog/loop_catalog.hpp"

#include "common/check.hpp"

namespace eindb {

bool LoopCatalog::exists() { return connection_.has_table("eindb_loops", {"loop", "done", "run"}); }

std::optional<UnfinishedLoop> LoopCatalog::find(std::string_view loop) {
  if (!exists()) return std::nullopt;
  auto select = connection_.prepare("SELECT done, run FROM main.eindb_loops WHERE loop = ? LIMIT 1");
  select.bind(1, loop);
  if (!select.step()) return std::nullopt;
  const UnfinishedLoop found{.done = select.integer(0), .run = select.integer(1)};
  if (found.done > 0) return found;
  throw Error(ErrorKind::Corrupt,
              connection_.name() + ": an unfinished loop has " + std::to_string(found.done) + " rounds behind it",
              std::nullopt, "SET resume_loops = off lets it begin anew");
}

void LoopCatalog::put(std::string_view loop, const UnfinishedLoop& state) {
  CHECK(connection_.in_transaction(), "the catalog changes inside a transaction");
  CHECK(state.done > 0, "a loop that is kept has a round behind it");
  if (!exists()) {
    connection_.execute(
        "CREATE TABLE main.eindb_loops ("
        "loop TEXT PRIMARY KEY NOT NULL, done INTEGER NOT NULL, run INTEGER NOT NULL) WITHOUT ROWID");
  }
  connection_.prepare("INSERT OR REPLACE INTO main.eindb_loops (loop, done, run) VALUES (?, ?, ?)")
      .bind(1, loop)
      .bind(2, state.done)
      .bind(3, state.run)
      .run();
}

void LoopCatalog::drop(std::string_view loop) {
  CHECK(connection_.in_transaction(), "the catalog changes inside a transaction");
  if (exists()) connection_.prepare("DELETE FROM main.eindb_loops WHERE loop = ?").bind(1, loop).run();
}

}  // namespace eindb
