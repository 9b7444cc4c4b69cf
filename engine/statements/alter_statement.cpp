#include <deque>
#include <unordered_map>

#include "common/check.hpp"
#include "common/error.hpp"
#include "engine/results/rows.hpp"
#include "engine/statements/statements.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"
#include "storage/tiles/read_snapshot.hpp"
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

std::int64_t kept_bytes(const Settings& settings) { return settings.memory_limit() / 4; }

// Stores the same values in tiles of another grid, or at other workers.
void move_tiles(const TensorInfo& tensor, const TileGrid& grid, int replicas, SessionState& session) {
  auto& database = session.database;
  const auto& statement = session.statement;
  CHECK(database.connection().in_transaction(), "tiles are moved in a transaction");
  CHECK(grid.shape() == tensor.grid.shape(), "a tensor keeps its shape where its tiles are moved");
  ReadSnapshot snapshot(database.file, 1);
  const auto staged = database.catalog.stage(tensor.dtype, tensor.labels, grid, replicas, tensor.schema);
  {
    RecentTiles tiles(snapshot, tensor.store(), kept_bytes(session.user.settings));
    TileWriter writer(database.connection(), staged.store());
    std::int64_t pieces = 0;
    for (std::int64_t id = 0; id < grid.tile_count(); ++id) {
      statement.cancellation().check();
      statement.report("repartition", id, grid.tile_count());
      const auto read = [&tiles](std::int64_t old) { return tiles.read(old); };
      if (const auto tile = gather_tile(tensor.grid, tensor.dtype, read, grid, id, pieces)) writer.write(id, *tile);
    }
  }
  database.catalog.publish(staged, tensor.own_name());
}

void change_tensor(const TensorInfo& tensor, const ast::Identifier& new_name, SessionState& session) {
  with_place(new_name.span, [&] { session.database.catalog.rename(tensor.name, new_name.text); });
}

void change_tensor(const TensorInfo& tensor, const ast::PartitionClause& partition, SessionState& session) {
  const auto grid = with_place(partition.span, [&] { return TileGrid(tensor.grid.shape(), partition.parts); });
  if (grid != tensor.grid) move_tiles(tensor, grid, tensor.replicas, session);
}

void change_tensor(const TensorInfo& tensor, const ast::ReplicasClause& replicas, SessionState& session) {
  if (tensor.is_temporary())
    throw Error(ErrorKind::Unsupported, "a temporary tensor lies in the session, not at workers", replicas.span,
                "CREATE TENSOR ... AS EINSUM ... makes one of the database");
  const auto copies = session.database.replicas(replicas);
  // Even with an unchanged number of copies: the tiles move to the current workers.
  if (copies > 0 || tensor.is_sharded()) move_tiles(tensor, tensor.grid, copies, session);
}

}  // namespace

Result execute_statement(const ast::AlterTensor& alter, SessionState& session) {
  const bool moves_tiles = !std::holds_alternative<ast::Identifier>(alter.change);
  const auto admission = moves_tiles ? session.admit(kept_bytes(session.user.settings)) : nullptr;
  SqliteTransaction transaction(session.database.connection());
  const auto tensor = session.database.tensor(alter.name);
  std::visit([&](const auto& change) { change_tensor(tensor, change, session); }, alter.change);
  transaction.commit();
  return status_result("ALTER TENSOR");
}

}  // namespace eindb
