#include "engine/statements/moved_tiles.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "catalog/stored_tiles.hpp"
#include "common/check.hpp"
#include "executor/kernels/tile_operations.hpp"
#include "storage/tiles/read_snapshot.hpp"
#include "storage/tiles/tile_writer.hpp"
#include "tensor/tile_gather.hpp"
#include "tensor/tile_window.hpp"

namespace eindb {
namespace {

// The most recently read tiles of the old partition, up to a number of bytes. Several new tiles overlap each of them.
class RecentTiles {
 public:
  RecentTiles(ReadSnapshot& snapshot, TileStore store, std::int64_t bytes)
      : snapshot_(snapshot), store_(std::move(store)), bytes_left_(bytes) {}

  TilePtr read(std::int64_t tile_id) {
    if (const auto found = tiles_.find(tile_id); found != tiles_.end()) return found->second;
    auto tile = snapshot_.read(store_, tile_id);
    if (tile == nullptr) return nullptr;
    bytes_left_ -= static_cast<std::int64_t>(tile->byte_size());
    while (bytes_left_ < 0 && !order_.empty()) drop_oldest();
    order_.push_back(tile_id);
    CHECK(tiles_.size() + 1 == order_.size(), "every tile that is kept is listed once");
    return tiles_.emplace(tile_id, std::move(tile)).first->second;
  }

 private:
  void drop_oldest() {
    const auto oldest = tiles_.find(order_.front());
    CHECK(oldest != tiles_.end(), "tiles are listed in the order in which they were read");
    bytes_left_ += static_cast<std::int64_t>(oldest->second->byte_size());
    tiles_.erase(oldest);
    order_.pop_front();
  }

  ReadSnapshot& snapshot_;
  TileStore store_;
  std::int64_t bytes_left_;
  std::unordered_map<std::int64_t, TilePtr> tiles_;
  std::deque<std::int64_t> order_;
};

// The tiles of the new grid that overlap a stored one, in their order; nullopt where they are too many to be listed.
std::optional<std::vector<std::int64_t>> reached_tiles(OpenDatabase& database, const TensorInfo& tensor,
                                                       const TileGrid& grid) {
  constexpr std::int64_t kMostListed = 1 << 22;
  std::vector<std::int64_t> reached;
  StoredTileIds stored(database.connection(), tensor.store());
  for (auto id = stored.next(0); id; id = stored.next(*id + 1)) {
    const auto key = tensor.grid.key_of(*id);
    std::vector<PartRange> box;
    for (std::size_t d = 0; d < key.size(); ++d) box.push_back(tensor.grid.range(d, key[d]));
    const auto window = window_over(grid, box);
    for (std::int64_t n = 0; n < window.tile_count(); ++n) {
      if (std::cmp_greater_equal(reached.size(), kMostListed)) return std::nullopt;
      reached.push_back(grid.id_of(window.key_of(n)));
    }
  }
  std::sort(reached.begin(), reached.end());
  reached.erase(std::unique(reached.begin(), reached.end()), reached.end());
  return reached;
}

// The cells of a tensor that are stored, if they are few of all.
std::optional<std::int64_t> few_cells(OpenDatabase& database, const TensorInfo& tensor) {
  constexpr double kFew = 0.25;
  const auto stored = count_stored(database.connection(), tensor).stored_cells;
  const auto all = static_cast<double>(tensor.shape().element_count());
  return stored && static_cast<double>(*stored) < kFew * all ? stored : std::nullopt;
}

}  // namespace

std::int64_t memory_for_moves(const Settings& settings) { return settings.memory_limit() / 4; }

TensorInfo move_tiles(const TensorInfo& tensor, StoredType type, const TileGrid& grid, int replicas,
                      const DimensionNames& names, SessionState& session) {
  auto& database = session.database;
  const auto& statement = session.statement;
  CHECK(database.connection().in_transaction(), "tiles are moved in a transaction");
  for (std::size_t d = 0; d < grid.rank(); ++d)
    CHECK(grid.shape()[d] >= tensor.shape()[d], "a tensor loses no cells where its tiles are moved");
  ReadSnapshot snapshot(database.file, 1);
  const auto staged = database.catalog.stage(type, tensor.labels, grid, replicas, tensor.schema, names);
  {
    RecentTiles tiles(snapshot, tensor.store(), memory_for_moves(session.user.settings));
    TileWriter writer(database.connection(), staged.store());
    if (staged.is_sharded())
      if (const auto cells = few_cells(database, tensor)) writer.expect_cells(*cells);
    std::int64_t pieces = 0;
    const auto read = [&tiles](std::int64_t old) { return tiles.read(old); };
    const auto move = [&](std::int64_t id) {
      statement.cancellation().check();
      statement.report("repartition", id, grid.tile_count());
      const auto tile = gather_tile(tensor.grid, tensor.dtype, read, grid, id, pieces);
      if (!tile) return;
      if (tile->dtype() == type.values) writer.write(id, *tile);
      else writer.write(id, convert(*tile, type.values));
    };
    if (const auto reached = reached_tiles(database, tensor, grid))
      for (const auto id : *reached) move(id);
    else
      for (std::int64_t id = 0; id < grid.tile_count(); ++id) move(id);
  }
  return database.catalog.publish(staged, tensor.own_name());
}

}  // namespace eindb
