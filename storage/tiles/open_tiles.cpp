#include "storage/tiles/open_tiles.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "common/check.hpp"

namespace eindb {
namespace {

/// Memory of an entry beside the values of its tile.
constexpr std::int64_t kEntryBytes = 512;
/// Tiles of fewer elements are changed with all values.
constexpr std::int64_t kSmall = 1024;
/// A tile is changed as cells up to one cell in so many elements.
constexpr std::int64_t kElementsPerCell = 16;

}  // namespace

OpenTiles::OpenTiles(SqliteConnection& connection, const TileStore& store, std::int64_t memory, Content content)
    : connection_(connection),
      store_(store),
      writer_(connection, store),
      memory_(memory),
      highest_stored_(content == Content::Zeros ? -1 : std::numeric_limits<std::int64_t>::max()) {}

Tile& OpenTiles::open(std::int64_t tile_id) {
  auto& entry = find(tile_id);
  return dense(entry, {0, shape_of(tile_id).element_count()});
}

void OpenTiles::set(std::int64_t tile_id, Elements elements, const std::byte* values) {
  auto& entry = find(tile_id);
  const auto size = size_of(store_.dtype());
  if (auto* cells = few_cells(entry, values == nullptr ? 0 : elements.count)) {
    const auto first = static_cast<std::uint32_t>(elements.first);
    const auto count = static_cast<std::uint32_t>(elements.count);
    if (values == nullptr) return cells->clear(first, first + count);
    for (std::uint32_t n = 0; n < count; ++n) std::memcpy(cells->at(first + n), values + n * size, size);
    return account(entry);
  }
  auto* target = dense(entry, elements).mutable_bytes().data() + static_cast<std::size_t>(elements.first) * size;
  const auto bytes = static_cast<std::size_t>(elements.count) * size;
  if (values == nullptr) std::memset(target, 0, bytes);
  else std::memcpy(target, values, bytes);
}

OpenTiles::Entry& OpenTiles::find(std::int64_t tile_id) {
  if (const auto found = by_id_.find(tile_id); found != by_id_.end()) {
    tiles_.splice(tiles_.begin(), tiles_, found->second);
    return tiles_.front();
  }
  // Makes room for one more tile of the same size.
  while (!tiles_.empty() && used_ + tiles_.back().cost > memory_) close_last();
  CHECK(used_ >= 0 && (used_ == 0) == tiles_.empty(), "tiles that are closed take no memory");
  tiles_.push_front(load(tile_id));
  by_id_.emplace(tile_id, tiles_.begin());
  account(tiles_.front());
  CHECK(by_id_.size() == tiles_.size(), "each open tile is found by its number");
  return tiles_.front();
}

void OpenTiles::close_last() {
  auto& entry = tiles_.back();
  write(entry);
  used_ -= entry.cost;
  by_id_.erase(entry.tile_id);
  tiles_.pop_back();
}

CellChanges* OpenTiles::few_cells(Entry& entry, std::int64_t changed) {
  auto* cells = std::get_if<CellChanges>(&entry.content);
  if (cells == nullptr) return nullptr;
  const auto most = shape_of(entry.tile_id).element_count() / kElementsPerCell;
  return cells->count() + changed <= most ? cells : nullptr;
}

Tile& OpenTiles::dense(Entry& entry, Elements changed) {
  if (auto* cells = std::get_if<CellChanges>(&entry.content)) {
    entry.content = cells->expand(shape_of(entry.tile_id));
    // The store has another format, of which nothing can be left as it is.
    changed = {0, shape_of(entry.tile_id).element_count()};
    account(entry);
  }
  auto& tile = std::get<Tile>(entry.content);
  DCHECK(changed.first >= 0 && changed.count <= tile.shape().element_count() - changed.first,
         "elements that are changed lie in their tile");
  entry.begin = std::min(entry.begin, changed.first);
  entry.end = std::max(entry.end, changed.first + changed.count);
  return tile;
}

void OpenTiles::account(Entry& entry) {
  const auto* tile = std::get_if<Tile>(&entry.content);
  const auto bytes =
      tile != nullptr ? static_cast<std::int64_t>(tile->byte_size()) : std::get<CellChanges>(entry.content).byte_size();
  used_ += bytes + kEntryBytes - entry.cost;
  entry.cost = bytes + kEntryBytes;
  DCHECK(&entry == &tiles_.front(), "the tile that is changed is the most recently used one");
  while (used_ > memory_ && tiles_.size() > 1) close_last();
}

// The cells of a large tile that has few; nullopt for others.
std::optional<CellList> OpenTiles::stored_cells(std::int64_t tile_id) {
  const auto all = shape_of(tile_id).element_count();
  const auto room = store_.grid().room_shape(store_.grid().key_of(tile_id)).element_count();
  if (all < kSmall || !may_be_sparse(store_.type(), room)) return std::nullopt;
  if (tile_id > highest_stored_) return CellList{};
  const auto label = store_.label(connection_, tile_id);
  const bool has_few = !label || ((label->format == TileFormat::Coordinates || label->format == TileFormat::Bitmap) &&
                                  label->count <= all / kElementsPerCell);
  return has_few ? std::optional(store_.load_cells(connection_, tile_id, store_.dtype())) : std::nullopt;
}

OpenTiles::Entry OpenTiles::load(std::int64_t tile_id) {
  if (auto cells = stored_cells(tile_id)) {
    const bool is_stored = !cells->numbers.empty();
    read_ += is_stored ? 1 : 0;
    return {tile_id, CellChanges(store_.dtype(), std::move(*cells)), is_stored};
  }
  const auto shape = shape_of(tile_id);
  const auto stored = tile_id <= highest_stored_ ? store_.read(connection_, tile_id) : nullptr;
  if (stored == nullptr) return {tile_id, Tile::zeros(store_.dtype(), shape), false};
  ++read_;
  auto tile = Tile::uninitialized(store_.dtype(), shape);
  CHECK(stored->byte_size() == tile.byte_size(), "a stored tile has the size of its place");
  std::memcpy(tile.mutable_bytes().data(), stored->bytes().data(), tile.byte_size());
  return {tile_id, std::move(tile), true};
}

void OpenTiles::write(Entry& entry) {
  const auto* tile = std::get_if<Tile>(&entry.content);
  if (tile == nullptr) writer_.write(entry.tile_id, std::get<CellChanges>(entry.content).take());
  else if (entry.is_stored) writer_.replace(entry.tile_id, *tile, entry.begin, entry.end);
  else writer_.write(entry.tile_id, *tile);
  highest_stored_ = std::max(highest_stored_, entry.tile_id);
  ++written_;
}

void OpenTiles::flush() {
  tiles_.sort([](const Entry& a, const Entry& b) { return a.tile_id < b.tile_id; });
  DCHECK(std::ranges::adjacent_find(tiles_, std::greater_equal(), &Entry::tile_id) == tiles_.end(),
         "a tile is open once");
  for (auto& entry : tiles_) write(entry);
  tiles_.clear();
  by_id_.clear();
  used_ = 0;
}

}  // namespace eindb
