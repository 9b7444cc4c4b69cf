#include "executor/relation.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "common/check.hpp"
#include "tensor/dense_tensor.hpp"

namespace eindb {
namespace {

// A view of the selection's part of a stored tile: it starts at the selected indices, and the free dimensions keep
// their strides.
TilePtr select_from_tile(const Tile& stored, const Selection& selection, std::int64_t stored_id, const Shape& shape) {
  const auto begin = selection.stored.tile_begin(selection.stored.key_of(stored_id));
  const auto strides = stored.shape().row_major_strides();
  CHECK(selection.at.size() == strides.size(), "a selection says of each dimension what it holds of it");
  std::vector<std::int64_t> free_strides;
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < strides.size(); ++d) {
    if (selection.at[d]) offset += (*selection.at[d] - begin[d]) * strides[d];
    else free_strides.push_back(strides[d]);
  }
  CHECK(free_strides.size() == shape.rank(), "a selection keeps the dimensions that it leaves free");
  const auto size = size_of(stored.dtype());
  auto tile = Tile::uninitialized(stored.dtype(), shape);
  copy_block(tile.mutable_bytes().data(), shape.row_major_strides(),
             stored.bytes().data() + offset * static_cast<std::int64_t>(size), free_strides, shape.extents(), size);
  return std::make_shared<const Tile>(std::move(tile));
}

// The same of a stored tile of cells; null if none is selected.
TilePtr select_from_cells(const Tile& stored, const Selection& selection, std::int64_t stored_id, const Shape& shape) {
  const auto begin = selection.stored.tile_begin(selection.stored.key_of(stored_id));
  const auto strides = stored.shape().row_major_strides();
  const auto free_strides = shape.row_major_strides();
  const auto size = size_of(stored.dtype());
  const auto numbers = stored.cells().numbers();
  const auto* values = stored.cells().trie().values.data();
  std::optional<Tile> tile;
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    std::int64_t place = 0;
    std::size_t free = 0;
    bool is_selected = true;
    auto rest = numbers[n];
    for (std::size_t d = 0; d < strides.size() && is_selected; ++d) {
      const auto index = rest / strides[d];
      rest -= index * strides[d];
      if (selection.at[d]) is_selected = *selection.at[d] - begin[d] == index;
      else place += index * free_strides[free++];
    }
    if (!is_selected) continue;
    if (!tile) tile = Tile::zeros(stored.dtype(), shape);
    std::memcpy(tile->mutable_bytes().data() + static_cast<std::size_t>(place) * size, values + n * size, size);
  }
  return tile ? std::make_shared<const Tile>(*std::move(tile)) : nullptr;
}

// The most tiles of which something is kept for each.
constexpr std::int64_t kMostListed = std::int64_t{1} << 22U;

std::size_t listed(std::int64_t tiles) { return static_cast<std::size_t>(tiles > kMostListed ? 0 : tiles); }

// Of a tile's plain values, which may have been decoded from it.
int magnitude_noted_at(const Tile& tile, const Tile& values) {
  if (const auto noted = tile.noted_magnitude()) return *noted;
  const auto magnitude = magnitude_of(values);
  tile.note_magnitude(magnitude);
  return magnitude;
}

}  // namespace

Relation::Relation(DType type, TileGrid grid, std::shared_ptr<MemoryBudget> memory)
    : dtype_(type),
      grid_(std::move(grid)),
      memory_(std::move(memory)),
      seen_(0),
      known_(listed(grid_.tile_count())),
      tiles_(memory_, grid_.tile_count()) {}

Relation::Relation(DType type, TileGrid grid, TileWindow window, std::shared_ptr<MemoryBudget> memory)
    : dtype_(type),
      grid_(std::move(grid)),
      memory_(std::move(memory)),
      seen_(0),
      known_(listed(window.tile_count())),
      tiles_(memory_, window.tile_count()) {
  CHECK(window.size.size() == grid_.rank(), "a window has the dimensions of its grid");
  if (window.size != grid_.partition()) window_ = std::move(window);
}

Relation::Relation(const InputTensor& tensor, TileSource& source, std::shared_ptr<MemoryBudget> memory,
                   std::shared_ptr<Counter> counter)
    : dtype_(tensor.dtype),
      grid_(tensor.grid),
      tensor_(&tensor),
      source_(&source),
      memory_(std::move(memory)),
      tiles_read_(std::move(counter)),
      seen_(tensor.attached ? 0 : listed(grid_.tile_count())),
      known_(listed(grid_.tile_count())),
      tiles_(memory_, is_kept_elsewhere() ? 0 : grid_.tile_count(),
             [this](std::int64_t tile_id) { return counted(read(tile_id)); }) {}

Relation::~Relation() {
  if (source_ != nullptr && !tensor_->attached) source_->let_go(tensor_->name);
}

bool Relation::is_kept_elsewhere() const {
  return tensor_->attached || (!tensor_->selection && source_->keeps_tiles());
}

TilePtr Relation::tile(std::int64_t tile_id) { return plain(stored_tile(tile_id)); }

TilePtr Relation::plain(TilePtr present) {
  if (present == nullptr) return present;
  if (present->is_of_cells()) return counted(std::make_shared<const Tile>(expanded(*present)));
  return present->is_encoded() ? counted(std::make_shared<const Tile>(decoded(*present))) : present;
}

TilePtr Relation::stored_tile(std::int64_t tile_id) {
  DCHECK(tile_id >= 0 && tile_id < grid_.tile_count(), "a tile that is asked for lies in its grid");
  if (source_ == nullptr) return tiles_.get(number_of(tile_id));
  const bool first = tensor_->attached || is_counted_first(tile_id);
  if (first) tiles_read_->tiles.fetch_add(1, std::memory_order_relaxed);
  if (!is_kept_elsewhere()) return tiles_.get(tile_id);
  // Attached tensors are in memory, so a copy of a tile lives only as long as the kernels that read it.
  if (tensor_->attached) return counted(read(tile_id));
  auto tile = read(tile_id);
  if (first && tile != nullptr && tile->is_of_cells())
    tiles_read_->cells.fetch_add(tile->cells().count(), std::memory_order_relaxed);
  return tile;
}

bool Relation::is_counted_first(std::int64_t tile_id) {
  if (!seen_.empty()) return !seen_[static_cast<std::size_t>(tile_id)].exchange(true);
  const std::lock_guard lock(mutex_);
  return seen_some_.insert(tile_id).second;
}

TilePtr Relation::take(std::int64_t tile_id) {
  return source_ == nullptr ? tiles_.take(number_of(tile_id)) : tile(tile_id);
}

void Relation::release(std::int64_t tile_id) {
  if (source_ == nullptr || !is_kept_elsewhere()) tiles_.drop(number_of(tile_id));
}

TilePtr Relation::counted(const TilePtr& present) {
  if (present == nullptr || present->is_borrowed()) return present;
  // Counted separately from the tile itself, which the source may share.
  const auto bytes = static_cast<std::int64_t>(present->byte_size());
  memory_->reserve(bytes);
  return {present.get(), [present, bytes, memory = memory_](const Tile*) { memory->release(bytes); }};
}

TilePtr Relation::read(std::int64_t tile_id) {
  if (tensor_->as_cells) return source_->read_cells(tensor_->name, grid_, tile_id);
  const auto& selection = tensor_->selection;
  const auto stored_tile = [&](const TileGrid& grid, std::int64_t id) {
    return tensor_->attached ? source_->read_attached(tensor_->name, grid, id, ValueOrder::RowMajor)
                             : source_->read(tensor_->name, id);
  };
  if (!selection) return stored_tile(grid_, tile_id);
  const auto key = grid_.key_of(tile_id);
  const auto stored_id = selection->stored_tile(key);
  if (selection->as_cells) {
    const auto cells = source_->read_cells(tensor_->name, selection->stored, stored_id);
    return cells == nullptr ? nullptr : select_from_cells(*cells, *selection, stored_id, grid_.tile_shape(key));
  }
  const auto stored = plain(stored_tile(selection->stored, stored_id));
  if (stored == nullptr) return nullptr;
  return select_from_tile(*stored, *selection, stored_id, grid_.tile_shape(key));
}

std::optional<TilePtr> Relation::cut_tile(const TileGrid& grid, std::int64_t tile_id,
                                          const std::function<std::optional<Tile>()>& assemble) {
  if (source_ == nullptr || tensor_->attached || tensor_->selection || tensor_->as_cells) return std::nullopt;
  if (grid.shape() != grid_.shape() || !(grid.cuts_evenly() || grid.overlaps())) return std::nullopt;
  const auto kept = source_->read_cut(tensor_->name, grid, tile_id, assemble);
  return kept ? std::optional(counted(*kept)) : std::nullopt;
}

TilePtr Relation::dense_tile(std::int64_t tile_id) {
  if (auto present = tile(tile_id)) return present;
  return zeros(tile_id);
}

TilePtr Relation::dense_stored_tile(std::int64_t tile_id) {
  if (auto present = stored_tile(tile_id)) return present;
  return zeros(tile_id);
}

TilePtr Relation::operand_tile(std::int64_t tile_id, ValueOrder order) {
  if (tensor_ == nullptr || !tensor_->attached || tensor_->selection || order == ValueOrder::RowMajor)
    return dense_stored_tile(tile_id);
  tiles_read_->tiles.fetch_add(1, std::memory_order_relaxed);
  return counted(source_->read_attached(tensor_->name, grid_, tile_id, order));
}

TilePtr Relation::zeros(std::int64_t tile_id) {
  return memory_->track(counted_zeros(memory_, dtype_, grid_.tile_shape(grid_.key_of(tile_id))));
}

OperandFacts Relation::facts(std::int64_t tile_id, Facts wanted) {
  // Reading may copy the tile, and the next task would copy it again.
  if (tensor_ != nullptr && tensor_->attached) return {.zero = false, .magnitude = kUnbounded};
  // Two tasks may both examine the tile, with the same result.
  std::atomic<int> unlisted{kNothing};
  auto& seen = known_.empty() ? unlisted : known_[static_cast<std::size_t>(number_of(tile_id))];
  auto known = seen.load(std::memory_order_relaxed);
  const bool lacks_magnitude = wanted != Facts::Presence && known == kValues;
  const bool lacks_zeros = wanted == Facts::Zeros && known >= kBounded && (known - kBounded) % 3 == 0;
  if (known == kNothing || lacks_magnitude || lacks_zeros) {
    const auto present = stored_tile(tile_id);
    if (present == nullptr || (known == kNothing && present->is_all_zero())) {
      known = kZeros;
    } else if (wanted == Facts::Presence) {
      const auto noted = present->noted_magnitude();
      known = noted ? kBounded + 3 * *noted : kValues;
    } else {
      const auto values = present->is_of_cells() ? present : plain(present);
      if (known < kBounded) known = kBounded + 3 * magnitude_noted_at(*present, *values);
      if (wanted == Facts::Zeros) known += values->is_of_cells() || has_zeros(*values) ? 1 : 2;
    }
    seen.store(known, std::memory_order_relaxed);
  }
  if (known < kBounded) return {.zero = known == kZeros};
  return {.zero = false, .magnitude = (known - kBounded) / 3, .nonzero = (known - kBounded) % 3 == 2};
}

}  // namespace eindb
