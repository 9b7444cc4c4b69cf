#include "storage/tiles/stored_references.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "common/check.hpp"
#include "storage/shards/shard_log.hpp"

namespace eindb {
namespace {

bool is_damaged(const CopyRules& rules, WorkerNumber worker, ContentId content) {
  return rules.is_damaged && rules.is_damaged(worker, content);
}

/// The ranks of undamaged copies. If all copies are damaged, all ranks are asked again: the disk may have recovered,
/// and otherwise they report the damage. Sorted, as the order of workers may differ after workers came and went.
std::vector<Rank> ranks_of(const TileReference& reference, const CopyRules& rules) {
  std::vector<Rank> good;
  std::vector<Rank> damaged;
  bool all_damaged = true;
  for (const auto worker : reference.workers) {
    const bool damages = is_damaged(rules, worker, reference.content);
    all_damaged = all_damaged && damages;
    if (const auto rank = rules.rank_of(worker)) (damages ? damaged : good).push_back(*rank);
  }
  auto& ranks = all_damaged ? damaged : good;
  std::sort(ranks.begin(), ranks.end());
  return std::move(ranks);
}

[[noreturn]] void fail_lost(SqliteConnection& connection, const std::string& tile, const TileReference& reference,
                            const CopyRules& rules) {
  std::string away;
  std::string damaged;
  for (const auto worker : reference.workers) {
    auto& list = is_damaged(rules, worker, reference.content) ? damaged : away;
    list += (list.empty() ? "" : ", ") + ShardLog(connection).worker(worker).address;
  }
  if (away.empty()) std::swap(away, damaged);
  throw Error(ErrorKind::WorkerLost,
              tile + " lies at " + away + ", and none of these is there" +
                  (damaged.empty() ? "" : "; the copy at " + damaged + " is damaged"),
              std::nullopt, "start the worker on its data directory again; CREATE TENSOR ... REPLICAS 2 keeps copies");
}

[[noreturn]] void fail_damaged(const TileStore& store, const char* what) {
  throw Error(ErrorKind::Corrupt, "tensor " + store.tensor() + " is damaged: " + what, std::nullopt,
              "restore the database from a copy, or drop the tensor and make it again");
}

// A file from outside may have a table of tiles without a primary key.
std::int64_t next_tile(SqliteStatement& select, const TileStore& store, std::int64_t previous) {
  const auto tile_id = select.integer(0);
  if (tile_id < 0 || tile_id >= store.grid().tile_count()) fail_damaged(store, "it has a tile outside its grid");
  if (tile_id == previous) fail_damaged(store, "it has a tile twice");
  return tile_id;
}

SqliteStatement select_from(SqliteConnection& connection, const TileStore& store, const char* columns) {
  return connection.prepare(std::string("SELECT ") + columns + " FROM " + store.quoted_table() + " ORDER BY tile_id");
}

}  // namespace

std::vector<StoredReference> read_references(SqliteConnection& connection, const TileStore& store) {
  const std::lock_guard lock(connection.mutex());
  std::vector<StoredReference> out;
  const auto context = "tensor " + store.tensor();
  auto select = select_from(connection, store, "tile_id, tile");
  std::int64_t tile_id = -1;
  while (select.step()) {
    tile_id = next_tile(select, store, tile_id);
    out.push_back({tile_id, decode_reference(select.blob(1), context)});
  }
  return out;
}

std::vector<StoredReference> read_references(SqliteConnection& connection, const TileStore& store,
                                             const std::set<std::int64_t>& tiles) {
  const std::lock_guard lock(connection.mutex());
  std::vector<StoredReference> out;
  auto select = connection.prepare("SELECT tile FROM " + store.quoted_table() + " WHERE tile_id = ?");
  for (const auto tile_id : tiles) {
    CHECK(tile_id >= 0 && tile_id < store.grid().tile_count(), "tiles that are wanted are those of the grid");
    if (select.bind(1, tile_id).step())
      out.push_back({tile_id, decode_reference(select.blob(0), "tensor " + store.tensor())});
    select.reset();
  }
  return out;
}

TileHolders holders_of(SqliteConnection& connection, const TileStore& store,
                       const std::vector<StoredReference>& references, const CopyRules& rules) {
  CHECK(rules.rank_of != nullptr, "whoever plans knows the ranks of workers");
  TileHolders out;
  for (const auto& [tile_id, reference] : references) {
    if (rules.is_needed && !rules.is_needed(tile_id)) continue;
    const auto ranks = ranks_of(reference, rules);
    if (ranks.empty()) fail_lost(connection, store.describe(tile_id), reference, rules);
    out.add({}, tile_id - out.tile_count());
    out.add(ranks);
  }
  out.add({}, store.grid().tile_count() - out.tile_count());
  return out;
}

TileHolders holders_of_own(SqliteConnection& connection, const TileStore& store, Rank coordinator) {
  const std::lock_guard lock(connection.mutex());
  TileHolders out;
  auto select = select_from(connection, store, "tile_id");
  std::int64_t tile_id = -1;
  while (select.step()) {
    tile_id = next_tile(select, store, tile_id);
    out.add({}, tile_id - out.tile_count());
    out.add({&coordinator, 1});
  }
  out.add({}, store.grid().tile_count() - out.tile_count());
  return out;
}

}  // namespace eindb
