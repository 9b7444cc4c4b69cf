#include "storage/tiles/stored_references.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "common/check.hpp"
#include "storage/shards/shard_log.hpp"

namespace eindb {
namespace {

/// Collects the holders of all tiles in the order of tiles; tiles without holders are left out.
class HolderList {
 public:
  explicit HolderList(std::int64_t tiles) : tiles_(tiles) { out_.begin.reserve(static_cast<std::size_t>(tiles) + 1); }

  void go_to(std::int64_t tile_id) {
    CHECK(tile_id >= out_.tile_count() && tile_id <= tiles_, "holders come in the order of tiles");
    while (out_.tile_count() < tile_id) end_tile();
  }
  void add(Rank holder) { out_.ranks.push_back(holder); }
  /// Sorts by rank, as the order of workers may differ after workers came and went.
  void end_tile() {
    CHECK(out_.ranks.size() <= UINT32_MAX, "holders are counted in 32 bits");
    std::sort(out_.ranks.begin() + out_.begin.back(), out_.ranks.end());
    out_.begin.push_back(static_cast<std::uint32_t>(out_.ranks.size()));
  }
  TileHolders take() {
    go_to(tiles_);
    CHECK(out_.begin.back() == out_.ranks.size(), "each holder has a tile");
    return std::move(out_);
  }

 private:
  std::int64_t tiles_;
  TileHolders out_;
};

bool is_damaged(const CopyRules& rules, WorkerNumber worker, ContentId content) {
  return rules.is_damaged && rules.is_damaged(worker, content);
}

/// The ranks of undamaged copies. If all copies are damaged, all ranks are asked again: the disk may have recovered,
/// and otherwise they report the damage.
std::vector<Rank> ranks_of(const TileReference& reference, const CopyRules& rules) {
  std::vector<Rank> good;
  std::vector<Rank> damaged;
  bool all_damaged = true;
  for (const auto worker : reference.workers) {
    const bool damages = is_damaged(rules, worker, reference.content);
    all_damaged = all_damaged && damages;
    if (const auto rank = rules.rank_of(worker)) (damages ? damaged : good).push_back(*rank);
  }
  return all_damaged ? damaged : good;
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

TileHolders holders_of(SqliteConnection& connection, const TileStore& store,
                       const std::vector<StoredReference>& references, const CopyRules& rules) {
  CHECK(rules.rank_of != nullptr, "whoever plans knows the ranks of workers");
  HolderList out(store.grid().tile_count());
  for (const auto& [tile_id, reference] : references) {
    out.go_to(tile_id);
    const auto ranks = ranks_of(reference, rules);
    for (const auto rank : ranks) out.add(rank);
    const bool is_needed = !rules.is_needed || rules.is_needed(tile_id);
    if (ranks.empty() && is_needed) fail_lost(connection, store.describe(tile_id), reference, rules);
    out.end_tile();
  }
  return out.take();
}

TileHolders holders_of_own(SqliteConnection& connection, const TileStore& store, Rank coordinator) {
  const std::lock_guard lock(connection.mutex());
  HolderList out(store.grid().tile_count());
  auto select = select_from(connection, store, "tile_id");
  std::int64_t tile_id = -1;
  while (select.step()) {
    tile_id = next_tile(select, store, tile_id);
    out.go_to(tile_id);
    out.add(coordinator);
    out.end_tile();
  }
  return out.take();
}

}  // namespace eindb
