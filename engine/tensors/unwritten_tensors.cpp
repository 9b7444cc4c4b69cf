#include "engine/tensors/unwritten_tensors.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "common/check.hpp"
#include "engine/tensors/storing_sink.hpp"
#include "tensor/cell_block.hpp"

namespace eindb {
namespace {

void write_tiles(const NewTiles& tensor, SqliteConnection& connection) {
  StoringSink sink(connection, tensor.tensor.store(), true);
  for (auto id = tensor.tiles->next(0); id; id = tensor.tiles->next(*id + 1)) {
    connection.check_cancelled();
    sink.write(*id, tensor.tiles->get(*id));
  }
  sink.finish();
}

}  // namespace

std::shared_ptr<BufferedTiles> UnwrittenTensors::find(const TensorInfo& tensor) const {
  if (contents_.tensors.empty()) return nullptr;
  const auto found = contents_.tensors.find(key_of(tensor));
  return found == contents_.tensors.end() ? nullptr : found->second.tiles;
}

std::optional<double> UnwrittenTensors::cells(const TensorInfo& tensor) const {
  const auto found = contents_.tensors.find(key_of(tensor));
  CHECK(found != contents_.tensors.end(), "a tensor whose cells are counted has unwritten tiles");
  const auto& contents = found->second;
  if (!contents.of_cells) return std::nullopt;
  const auto count = static_cast<double>(contents.tiles->bytes()) / bytes_of_cell(tensor.dtype, tensor.grid.rank());
  return std::exp2(std::round(std::log2(std::max(1.0, count))));
}

void UnwrittenTensors::put(std::vector<NewTiles> all) {
  for (const auto& [tensor, tiles, of_cells] : all)
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

std::int64_t UnwrittenTensors::bytes() const {
  std::int64_t bytes = 0;
  for (const auto& [key, tensor] : contents_.tensors) bytes += tensor.tiles->bytes();
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
