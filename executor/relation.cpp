#include "executor/relation.hpp"

#include "common/check.hpp"
#include "tensor/dense_tensor.hpp"

namespace eindb {
namespace {

// The selection's part of a stored tile: the start moves to the held indices, the free dimensions keep their strides.
TilePtr select_from_tile(const Tile& stored, const Selection& selection, std::int64_t stored_id, const Shape& shape) {
  const auto begin = selection.stored.tile_begin(selection.stored.key_of(stored_id));
  const auto strides = stored.shape().row_major_strides();
  std::vector<std::int64_t> free_strides;
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < strides.size(); ++d) {
    if (selection.at[d]) offset += (*selection.at[d] - begin[d]) * strides[d];
    else free_strides.push_back(strides[d]);
  }
  const auto size = size_of(stored.dtype());
  auto tile = Tile::uninitialized(stored.dtype(), shape);
  copy_block(tile.mutable_bytes().data(), shape.row_major_strides(),
             stored.bytes().data() + offset * static_cast<std::int64_t>(size), free_strides, shape.extents(), size);
  return std::make_shared<const Tile>(std::move(tile));
}

}  // namespace

Relation::Relation(DType type, TileGrid grid, std::vector<TilePtr> tiles)
    : dtype_(type), grid_(std::move(grid)), slots_(tiles.size()) {
  CHECK(static_cast<std::int64_t>(tiles.size()) == grid_.tile_count(), "a relation has a tile for every key");
  for (std::size_t n = 0; n < tiles.size(); ++n) slots_[n].tile = std::move(tiles[n]);
}

Relation::Relation(DType type, TileGrid grid, TileWindow window, std::vector<TilePtr> tiles)
    : dtype_(type), grid_(std::move(grid)), slots_(tiles.size()) {
  CHECK(static_cast<std::int64_t>(tiles.size()) == window.tile_count(), "a slice has a tile for every key");
  if (window.size != grid_.partition()) window_ = std::move(window);
  for (std::size_t n = 0; n < tiles.size(); ++n) slots_[n].tile = std::move(tiles[n]);
}

Relation::Relation(const InputTensor& tensor, TileSource& source, std::shared_ptr<MemoryBudget> memory)
    : dtype_(tensor.dtype),
      grid_(tensor.grid),
      slots_(static_cast<std::size_t>(grid_.tile_count())),
      tensor_(tensor),
      source_(&source),
      memory_(std::move(memory)) {}

Relation::Slot& Relation::slot_of(std::int64_t tile_id) {
  return slots_[static_cast<std::size_t>(window_ ? window_->number_of(grid_.key_of(tile_id)) : tile_id)];
}

TilePtr Relation::tile(std::int64_t tile_id) {
  auto& slot = slot_of(tile_id);
  if (source_ == nullptr) return slot.tile;
  // What lies in memory is at hand: a copy of a tile lives as long as the kernels that read it.
  if (tensor_->attached) return counted(read(tile_id));
  std::call_once(slot.once, [&] { slot.tile = counted(read(tile_id)); });
  return slot.tile;
}

std::int64_t Relation::bytes() const {
  std::int64_t bytes = 0;
  for (const auto& slot : slots_)
    if (slot.tile != nullptr) bytes += static_cast<std::int64_t>(slot.tile->byte_size());
  return bytes;
}

TilePtr Relation::counted(const TilePtr& present) {
  tiles_read_->fetch_add(1, std::memory_order_relaxed);
  if (present == nullptr || present->is_borrowed()) return present;
  // Counted apart from the tile itself, which the source may share with others.
  const auto bytes = static_cast<std::int64_t>(present->byte_size());
  memory_->reserve(bytes);
  return {present.get(), [present, bytes, memory = memory_](const Tile*) { memory->release(bytes); }};
}

TilePtr Relation::read(std::int64_t tile_id) {
  const auto& selection = tensor_->selection;
  const auto stored_tile = [&](const TileGrid& grid, std::int64_t id) {
    return tensor_->attached ? source_->read_attached(tensor_->name, grid, id) : source_->read(tensor_->name, id);
  };
  if (!selection) return stored_tile(grid_, tile_id);
  const auto key = grid_.key_of(tile_id);
  const auto stored_id = selection->stored_tile(key);
  const auto stored = stored_tile(selection->stored, stored_id);
  if (stored == nullptr) return nullptr;
  return select_from_tile(*stored, *selection, stored_id, grid_.tile_shape(key));
}

TilePtr Relation::dense_tile(std::int64_t tile_id) {
  if (auto present = tile(tile_id)) return present;
  return std::make_shared<const Tile>(Tile::zeros(dtype_, grid_.tile_shape(grid_.key_of(tile_id))));
}

}  // namespace eindb
