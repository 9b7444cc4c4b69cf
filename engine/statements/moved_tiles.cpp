#include "engine/statements/moved_tiles.hpp"

#include <deque>
#include <unordered_map>
#include <utility>

#include "common/check.hpp"
#include "executor/kernels/tile_operations.hpp"
#include "storage/tiles/read_snapshot.hpp"
#include "storage/tiles/tile_writer.hpp"
#include "tensor/tile_gather.hpp"

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

}  // namespace

std::int64_t memory_for_moves(const Settings& settings) { return settings.memory_limit() / 4; }

TensorInfo move_tiles(const TensorInfo& tensor, StoredType type, const TileGrid& grid, int replicas,
                      SessionState& session) {
  auto& database = session.database;
  const auto& statement = session.statement;
  CHECK(database.connection().in_transaction(), "tiles are moved in a transaction");
  for (std::size_t d = 0; d < grid.rank(); ++d)
    CHECK(grid.shape()[d] >= tensor.shape()[d], "a tensor loses no cells where its tiles are moved");
  ReadSnapshot snapshot(database.file, 1);
  const auto staged = database.catalog.stage(type, tensor.labels, grid, replicas, tensor.schema);
  {
    RecentTiles tiles(snapshot, tensor.store(), memory_for_moves(session.user.settings));
    TileWriter writer(database.connection(), staged.store());
    std::int64_t pieces = 0;
    for (std::int64_t id = 0; id < grid.tile_count(); ++id) {
      statement.cancellation().check();
      statement.report("repartition", id, grid.tile_count());
      const auto read = [&tiles](std::int64_t old) { return tiles.read(old); };
      const auto tile = gather_tile(tensor.grid, tensor.dtype, read, grid, id, pieces);
      if (!tile) continue;
      if (tile->dtype() == type.values) writer.write(id, *tile);
      else writer.write(id, convert(*tile, type.values));
    }
  }
  return database.catalog.publish(staged, tensor.own_name());
}

}  // namespace eindb
