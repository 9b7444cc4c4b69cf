#include "engine/unwritten_tensors.hpp"

#include <set>

#include "common/check.hpp"
#include "engine/session_state.hpp"
#include "storage/tile_store.hpp"

namespace eindb {
namespace {

/// The part of the memory for tiles, inverted, that unwritten ones may take: the rest is for what computes the next.
constexpr std::int64_t kShare = 2;

// Where sessions share their memory each statement has to leave its part of it at its end, and workers read tables.
bool can_keep(const std::vector<NewTiles>& all, const SessionState& session) {
  if (session.gate != nullptr || session.cluster != nullptr) return false;
  std::int64_t bytes = 0;
  for (const auto& [tensor, tiles] : all) {
    if (tensor.is_sharded()) return false;
    bytes += tiles->bytes();
  }
  for (const auto& [id, known] : session.unwritten.contents().tensors) bytes += known.tiles->bytes();
  return bytes <= session.settings.memory_for_tiles() / kShare;
}

}  // namespace

std::shared_ptr<BufferedTiles> UnwrittenTensors::find(std::int64_t tensor_id) const {
  const auto found = contents_.tensors.find(tensor_id);
  return found == contents_.tensors.end() ? nullptr : found->second.tiles;
}

void UnwrittenTensors::put(std::vector<NewTiles> all) {
  Contents changed{contents_.tensors, {}};
  for (auto& tensor : all) changed.tensors.insert_or_assign(tensor.tensor.id, std::move(tensor));
  std::set<std::shared_ptr<MemoryBudget>> budgets;
  for (const auto& [id, tensor] : changed.tensors) budgets.insert(tensor.tiles->memory());
  changed.budgets.assign(budgets.begin(), budgets.end());
  contents_ = std::move(changed);
}

void UnwrittenTensors::write(SqliteConnection& connection) {
  for (const auto& [id, tensor] : contents_.tensors) write_tiles(tensor, connection);
  forget();
}

std::int64_t UnwrittenTensors::idle_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& memory : contents_.budgets) bytes += memory->used();
  return bytes;
}

std::int64_t UnwrittenTensors::evict(std::int64_t bytes) {
  std::int64_t freed = 0;
  for (const auto& memory : contents_.budgets)
    if (freed < bytes) freed += memory->buffer().evict(bytes - freed);
  return freed;
}

void write_tiles(const NewTiles& tensor, SqliteConnection& connection) {
  TileWriter writer(connection, tensor.tensor.store());
  for (std::int64_t id = 0; id < tensor.tiles->count(); ++id) {
    connection.check_cancelled();
    if (const auto tile = tensor.tiles->get(id)) writer.write(id, *tile);
    else writer.erase(id);
  }
}

void replace_tiles(std::vector<NewTiles> all, const SqliteTransaction& transaction, SessionState& session) {
  auto& connection = session.database.connection();
  for (const auto& [tensor, tiles] : all)
    CHECK(tiles->count() == tensor.grid.tile_count(), "a tensor gets tiles of its own grid");
  if (transaction.is_nested() && can_keep(all, session)) {
    connection.begin_writing();
    session.unwritten.put(std::move(all));
    return;
  }
  session.unwritten.write(connection);
  for (const auto& tensor : all) write_tiles(tensor, connection);
}

}  // namespace eindb
