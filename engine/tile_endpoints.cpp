#include "engine/tile_endpoints.hpp"

#include <cstring>

#include "common/check.hpp"

namespace eindb {

StoredTiles::StoredTiles(ReadSnapshot& snapshot, Catalog& catalog, const std::vector<InputTensor>& tensors)
    : snapshot_(snapshot) {
  for (const auto& tensor : tensors) {
    const auto info = catalog.get(tensor.name);
    const auto& grid = tensor.selection ? tensor.selection->stored : tensor.grid;
    CHECK(info.grid == grid && info.dtype == tensor.dtype, "a plan is of the catalog's state in its snapshot");
    stores_.emplace(tensor.name, info.store());
  }
}

TilePtr StoredTiles::read(const std::string& tensor, std::int64_t tile_id) {
  const auto store = stores_.find(tensor);
  CHECK(store != stores_.end(), "a plan scans tensors that its snapshot knows");
  return snapshot_.read(store->second, tile_id);
}

TilePtr owned(TilePtr tile) {
  if (tile == nullptr || !tile->is_borrowed()) return tile;
  auto copy = Tile::uninitialized(tile->dtype(), tile->shape());
  std::memcpy(copy.mutable_bytes().data(), tile->bytes().data(), tile->byte_size());
  return std::make_shared<const Tile>(std::move(copy));
}

}  // namespace eindb
