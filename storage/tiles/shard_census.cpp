#include "storage/tiles/shard_census.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "storage/tiles/tile_store.hpp"

namespace eindb {
namespace {

std::vector<std::shared_ptr<const ShardedTensor>> sharded_tensors(SqliteConnection& connection) {
  std::vector<std::shared_ptr<const ShardedTensor>> tensors;
  if (!connection.has_table("eindb_shardings", {"tensor_id", "replicas"})) return tensors;
  auto select = connection.prepare(
      "SELECT name, replicas FROM main.eindb_tensors JOIN main.eindb_shardings USING (tensor_id) WHERE replicas > 0"
      " ORDER BY name");
  while (select.step()) {
    const auto name = select.text(0);
    const auto replicas = std::clamp<std::int64_t>(select.integer(1), 1, TileReference::kMaxWorkers);
    tensors.push_back(std::make_shared<const ShardedTensor>(
        ShardedTensor{name, TileStore::table_of(name), static_cast<int>(replicas)}));
  }
  return tensors;
}

}  // namespace

void for_each_reference(SqliteConnection& connection, const std::function<void(ShardedTile)>& take) {
  for (const auto& tensor : sharded_tensors(connection)) {
    auto select =
        connection.prepare("SELECT tile_id, tile FROM main." + quote_identifier(tensor->table) + " ORDER BY tile_id");
    while (select.step())
      take({tensor, select.integer(0), decode_reference(select.blob(1), "a tile of tensor " + tensor->name)});
  }
}

}  // namespace eindb
