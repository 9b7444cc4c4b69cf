#include "engine/tensors/unwritten_tensors.hpp"

#include <set>

#include "common/check.hpp"
#include "storage/tiles/tile_store.hpp"
#include "storage/tiles/tile_writer.hpp"

namespace eindb {
namespace {

void write_tiles(const NewTiles& tensor, SqliteConnection& connection) {
  TileWriter writer(connection, tensor.tensor.store());
  for (std::int64_t id = 0; id < tensor.tiles->count(); ++id) {
    connection.check_cancelled();
    if (const auto tile = tensor.tiles->get(id)) writer.replace(id, *tile);
    else writer.clear(id);
  }
}

}  // namespace

std::shared_ptr<BufferedTiles> UnwrittenTensors::find(const TensorInfo& tensor) const {
  if (contents_.tensors.empty()) return nullptr;
  const auto found = contents_.tensors.find(key_of(tensor));
  return found == contents_.tensors.end() ? nullptr : found->second.tiles;
}

void UnwrittenTensors::put(std::vector<NewTiles> all) {
  for (const auto& [tensor, tiles] : all)
    CHECK(tiles != nullptr && tiles->count() == tensor.grid.tile_count(), "a tensor gets tiles of its own grid");
  Contents changed{contents_.tensors, {}};
  for (auto& tensor : all) changed.tensors.insert_or_assign(key_of(tensor.tensor), std::move(tensor));
  std::set<std::shared_ptr<MemoryBudget>> budgets;
  for (const auto& [key, tensor] : changed.tensors) budgets.insert(tensor.tiles->memory());
  changed.budgets.assign(budgets.begin(), budgets.end());
  contents_ = std::move(changed);
}

void UnwrittenTensors::write(SqliteConnection& connection) {
  if (!connection.in_transaction()) return forget();
  try {
    for (const auto& [key, tensor] : contents_.tensors) write_tiles(tensor, connection);
  } catch (...) {
    if (!connection.in_transaction()) forget();
    throw;
  }
  forget();
}

std::int64_t UnwrittenTensors::dense_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& [key, tensor] : contents_.tensors) bytes += tensor.tensor.dense_bytes();
  return bytes;
}

std::int64_t UnwrittenTensors::idle_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& memory : contents_.budgets) {
    DCHECK(memory != nullptr, "tiles that are not written count in a budget");
    bytes += memory->used();
  }
  return bytes;
}

std::int64_t UnwrittenTensors::evict(std::int64_t bytes) {
  std::int64_t freed = 0;
  for (const auto& memory : contents_.budgets)
    if (freed < bytes) freed += memory->buffer().evict(bytes - freed);
  return freed;
}

}  // namespace eindb
