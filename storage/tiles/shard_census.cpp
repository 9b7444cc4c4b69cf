#include "storage/tiles/shard_census.hpp"

#include <vector>

#include "storage/tiles/tile_store.hpp"

namespace eindb {
namespace {

std::vector<std::string> sharded_tensors(SqliteConnection& connection) {
  std::vector<std::string> names;
  if (!connection.has_table("eindb_shardings", {"tensor_id", "replicas"})) return names;
  auto select = connection.prepare(
      "SELECT name FROM main.eindb_tensors JOIN main.eindb_shardings USING (tensor_id) WHERE replicas > 0 ORDER BY "
      "name");
  while (select.step()) names.push_back(select.text(0));
  return names;
}

}  // namespace

void for_each_reference(
    SqliteConnection& connection,
    const std::function<void(const std::string& tensor, std::int64_t tile_id, const TileReference&)>& take) {
  for (const auto& tensor : sharded_tensors(connection)) {
    auto select = connection.prepare("SELECT tile_id, tile FROM main." + quote_identifier(TileStore::table_of(tensor)) +
                                     " ORDER BY tile_id");
    while (select.step())
      take(tensor, select.integer(0), decode_reference(select.blob(1), "a tile of tensor " + tensor));
  }
}

}  // namespace eindb
