#include "engine/tensors/tile_endpoints.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "storage/encoding/tile_codec.hpp"
#include "storage/tiles/stored_rows.hpp"
#include "tensor/cell_encoding.hpp"
#include "tensor/cell_gather.hpp"
#include "tensor/tile_gather.hpp"

namespace eindb {
namespace {

std::string name_of_cut(const StoredInputs::Store& store, const Partition& partition) {
  return store.name + " in cells of " + bracketed(partition);
}

const StoredInputs::CutOfCells* cut_of(const StoredInputs::Store& store, const Partition& partition) {
  const auto found =
      std::find_if(store.cuts.begin(), store.cuts.end(), [&](const auto& cut) { return cut.partition == partition; });
  return found == store.cuts.end() ? nullptr : &*found;
}

}  // namespace

StoredInputs::StoredInputs(Catalog& catalog, std::span<const InputTensor* const> tensors, TileCache& cache,
                           const UnwrittenTensors& unwritten) {
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const auto* tensor : tensors) names.push_back(tensor->name);
  const auto found = catalog.get_all(names);
  for (std::size_t n = 0; n < tensors.size(); ++n) {
    const auto& tensor = *tensors[n];
    const auto& info = *found[n];
    auto grid = info.grid.even();
    CHECK(grid == tensor.stored_grid() && info.encoding == tensor.encoding && decodes_to(info.type(), tensor.dtype),
          "a plan is of the catalog's state in its snapshot");
    // The same encoded tile may be wanted in several types, one after the other.
    const auto name = info.dtype == tensor.dtype ? info.name : info.name + " as " + std::string(name_of(tensor.dtype));
    stores_.emplace_back(tensor.name, Store{name, info.store(), std::move(grid), tensor.dtype, cache.number_of(name),
                                            unwritten.find(info)});
  }
  std::stable_sort(stores_.begin(), stores_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto same =
      std::unique(stores_.begin(), stores_.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  stores_.erase(same, stores_.end());
  for (const auto* tensor : tensors) {
    if (!tensor->as_cells) continue;
    const auto entry = std::lower_bound(stores_.begin(), stores_.end(), tensor->name,
                                        [](const auto& a, const auto& name) { return a.first < name; });
    auto& store = entry->second;
    const auto& partition = tensor->grid.partition();
    if (cut_of(store, partition) == nullptr)
      store.cuts.push_back({partition, cache.number_of(name_of_cut(store, partition))});
  }
}

const StoredInputs::Store* StoredInputs::find(const std::string& tensor) const noexcept {
  const auto found = std::lower_bound(stores_.begin(), stores_.end(), tensor,
                                      [](const auto& entry, const auto& name) { return entry.first < name; });
  return found == stores_.end() || found->first != tensor ? nullptr : &found->second;
}

const StoredInputs::Store& StoredInputs::store(const std::string& tensor) const {
  const auto* found = find(tensor);
  CHECK(found != nullptr, "a plan scans tensors that its snapshot knows");
  return *found;
}

TilePtr StoredTiles::read(const std::string& tensor, std::int64_t tile_id) {
  const auto& store = inputs_->store(tensor);
  const auto& tiles = store.tiles;
  CHECK(tile_id >= 0 && tile_id < tiles.grid().tile_count(), "a plan reads tiles of the grids that it was made for");
  if (store.unwritten != nullptr) return store.unwritten->get_values(tile_id);
  return cache_.read(
      store.number, tile_id, [&] { return bytes_of(store, tile_id); },
      [&] {
        return tiles.grid().cuts_evenly() ? snapshot_.load(tiles, tile_id, store.type)
                                          : assemble(tiles, store.grid, tile_id, store.type);
      });
}

std::int64_t StoredTiles::bytes_of(const Store& store, std::int64_t tile_id) {
  const auto elements = store.grid.tile_shape(store.grid.key_of(tile_id)).element_count();
  return std::max(elements * static_cast<std::int64_t>(size_of(store.type)),
                  encoded_bytes(store.tiles.type(), elements));
}

namespace {

// A name that no other grid of this shape has, whose tiles are even or overlap: "[2,1]", "[2,1] reaching 0
// [30,1,0,2,1]".
std::string name_of_cuts(const TileGrid& grid) {
  CHECK(!grid.has_edges(), "cuts with edges have no name");
  auto name = bracketed(grid.partition());
  for (std::size_t d = 0; d < grid.reaches().size(); ++d) {
    const auto& reach = grid.reaches()[d];
    if (!reach) continue;
    const std::array all{reach->extent, reach->step, reach->least, reach->most, reach->divisor};
    name += " reaching " + std::to_string(d) + ' ' + bracketed(all);
  }
  return name;
}

}  // namespace

// Such a tile is idle in the cache as soon as it was read: its reader counts it as a tile that was made, and nothing
// that the statement needs gives way to it.
std::optional<TilePtr> StoredTiles::read_cut(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id,
                                             const std::function<std::optional<Tile>()>& assemble) {
  constexpr std::int64_t kShare = 8;
  const auto& store = inputs_->store(tensor);
  if (store.unwritten != nullptr) return std::nullopt;
  const auto elements = grid.tile_shape(grid.key_of(tile_id)).element_count();
  const auto bytes = elements * static_cast<std::int64_t>(size_of(store.type));
  const auto number = cache_.number_of(store.name + " cut by " + name_of_cuts(grid));
  const auto has_room = [&] {
    return memory_->left() > memory_->limit() / 2 &&
           cut_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= memory_->limit() / kShare;
  };
  if (!cache_.has(number, tile_id) && !has_room()) return std::nullopt;
  try {
    auto tile = cache_.read(
        number, tile_id, [&] { return bytes; },
        [&]() -> TilePtr {
          auto made = assemble();
          return made ? std::make_shared<const Tile>(*std::move(made)) : nullptr;
        });
    cache_.let_go(number);
    return tile;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::MemoryLimit) throw;
  }
  return std::nullopt;
}

namespace {

// Tiles that are brought may take one part in so many of the memory that is left.
constexpr std::int64_t kBroughtShare = 8;

std::set<std::int64_t> stored_tiles_of(const InputTensor& tensor) {
  std::set<std::int64_t> tiles;
  for (std::int64_t n = 0; n < tensor.grid.tile_count(); ++n)
    tiles.insert(tensor.selection ? tensor.selection->stored_tile(tensor.grid.key_of(n)) : n);
  return tiles;
}

}  // namespace

void StoredTiles::bring(std::span<const InputTensor* const> tensors) {
  std::vector<TileStore::WantedTile> wanted;
  std::vector<const Store*> stores;
  auto room = memory_->left() / kBroughtShare;
  for (const auto* tensor : tensors) {
    const auto& store = inputs_->store(tensor->name);
    if (tensor->as_cells) continue;  // these are brought when they are read
    if (!store.tiles.is_sharded() || store.unwritten != nullptr || !store.tiles.grid().cuts_evenly()) continue;
    for (const auto tile_id : stored_tiles_of(*tensor)) {
      if (cache_.has(store.number, tile_id)) continue;
      room -= bytes_of(store, tile_id);
      if (room < 0) return;
      wanted.push_back({&store.tiles, tile_id, store.type});
      stores.push_back(&store);
    }
  }
  if (wanted.size() < 2) return;  // it is fetched as fast when it is read
  std::vector<TilePtr> tiles;
  snapshot_.read_with(*wanted.front().store,
                      [&](SqliteConnection& connection) { tiles = TileStore::load_all(connection, wanted); });
  for (std::size_t n = 0; n < wanted.size(); ++n)
    cache_.read(
        stores[n]->number, wanted[n].tile_id, [&] { return bytes_of(*stores[n], wanted[n].tile_id); },
        [&] { return tiles[n]; });
}

// A tile of cells has an entry of its own in the cache for each cut that plans read the tensor in.
TilePtr StoredTiles::read_cells(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id) {
  const auto& store = inputs_->store(tensor);
  // The cache is of a state of the database, which unwritten tiles are not in.
  if (store.unwritten) return memory_->track(gather_cells(store, grid, tile_id));
  const auto* cut = cut_of(store, grid.partition());
  const auto number = cut != nullptr ? cut->number : cache_.number_of(name_of_cut(store, grid.partition()));
  return cache_.read(
      number, tile_id, [] { return std::int64_t{0}; },
      [&] { return std::make_shared<const Tile>(gather_cells(store, grid, tile_id)); });
}

namespace {

// Both count the cells, take room for them, and add them.
template <class TakeRoom>
void gather_unwritten(BufferedTiles& tiles, CellGather& gather, const TakeRoom& take_room) {
  const auto for_each = [&](const auto& visit) {
    for (auto id = gather.next(0); id; id = gather.next(*id + 1))
      if (const auto tile = tiles.get(*id)) visit(*id, *tile);
  };
  std::int64_t most = 0;
  for_each([&](std::int64_t, const Tile& tile) {
    most += tile.is_of_cells() ? tile.cells().count() : tile.shape().element_count();
  });
  take_room(most);
  for_each([&](std::int64_t id, const Tile& tile) {
    if (tile.is_of_cells()) return gather.add(id, tile.cells());
    const auto cells = cells_of(tile);
    gather.add(id, cells.numbers, cells.values);
  });
}

// Tiles at workers are asked for some together.
class CellsAtWorkers {
 public:
  CellsAtWorkers(SqliteConnection& connection, const TileStore& tiles, DType type, CellGather& gather)
      : connection_(connection), tiles_(tiles), type_(type), gather_(gather) {}

  void add(std::int64_t tile_id) {
    wanted_.push_back({&tiles_, tile_id, type_, TileForm::Cells});
    if (wanted_.size() == kTogether) flush();
  }
  void flush() {
    const auto found = TileStore::load_all(connection_, wanted_);
    for (std::size_t n = 0; n < wanted_.size(); ++n)
      if (found[n] != nullptr) gather_.add(wanted_[n].tile_id, found[n]->cells());
    wanted_.clear();
  }

 private:
  static constexpr std::size_t kTogether = 256;

  SqliteConnection& connection_;
  const TileStore& tiles_;
  DType type_;
  CellGather& gather_;
  std::vector<TileStore::WantedTile> wanted_;
};

template <class TakeRoom>
void gather_stored(SqliteConnection& connection, const TileStore& tiles, DType type, CellGather& gather,
                   const TakeRoom& take_room) {
  StoredRows rows(connection, tiles);
  const auto for_each = [&](const auto& visit) {
    for (auto wanted = gather.next(0); wanted;) {
      const auto stored = rows.seek(*wanted);
      if (!stored) return;
      poll_cancellation();
      wanted = gather.next(*stored);
      if (wanted != stored) continue;
      visit(*stored);
      wanted = gather.next(*stored + 1);
    }
  };
  std::int64_t most = 0;
  for_each([&](std::int64_t id) {
    const auto label = rows.label();
    most += label && label->format != TileFormat::Dense
                ? label->count
                : tiles.grid().tile_shape(tiles.grid().key_of(id)).element_count();
  });
  take_room(most);
  CellsAtWorkers at_workers(connection, tiles, type, gather);
  for_each([&](std::int64_t id) {
    if (tiles.is_sharded() && tiles.may_have_cells(id)) return at_workers.add(id);
    const auto cells = rows.load_cells(type);
    gather.add(id, cells.numbers, cells.values);
  });
  at_workers.flush();
}

}  // namespace

Tile StoredTiles::gather_cells(const Store& store, const TileGrid& grid, std::int64_t tile_id) {
  // Unwritten tiles lie in the cut in which plans make them.
  const auto& source = store.unwritten ? store.grid : store.tiles.grid();
  CellGather gather(store.type, source, grid, tile_id);
  MemoryReservation room(memory_, 0);
  const auto take_room = [&](std::int64_t cells) {
    room.raise_to(CellGather::bytes_for(store.type, grid.rank(), cells));
    gather.reserve(cells);
  };
  if (store.unwritten) {
    gather_unwritten(*store.unwritten, gather, take_room);
  } else {
    snapshot_.read_with(store.tiles, [&](SqliteConnection& connection) {
      gather_stored(connection, store.tiles, store.type, gather, take_room);
    });
  }
  return Tile::of_cells(std::make_shared<const CellBlock>(gather.take()));
}

// A plan cuts evenly, and the tiles of a tensor that has grown are not cut so.
TilePtr StoredTiles::assemble(const TileStore& tiles, const TileGrid& grid, std::int64_t tile_id, DType type) {
  const auto read = [&](std::int64_t stored) {
    auto tile = snapshot_.load(tiles, stored, type);
    return tile != nullptr && tile->is_encoded() ? std::make_shared<const Tile>(decoded(*tile)) : tile;
  };
  std::int64_t count = 0;
  auto tile = gather_tile(tiles.grid(), type, read, grid, tile_id, count);
  return tile ? std::make_shared<const Tile>(std::move(*tile)) : nullptr;
}

void StoredTiles::let_go(const std::string& tensor) noexcept {
  if (const auto* store = inputs_->find(tensor)) cache_.let_go(store->number);
}

namespace {

TilePtr copy_of(const Tile& tile, MemoryBudget& memory) {
  MemoryReservation reservation(memory.shared_from_this(), static_cast<std::int64_t>(tile.byte_size()));
  if (tile.is_of_cells()) {
    auto cells = std::make_shared<const CellBlock>(tile.dtype(), tile.shape(), tile.cells().trie().kept());
    return memory.track(CountedTile{std::move(reservation), Tile::of_cells(std::move(cells))});
  }
  auto copy = Tile::uninitialized(tile.dtype(), tile.shape());
  std::memcpy(copy.mutable_bytes().data(), tile.bytes().data(), tile.byte_size());
  return memory.track(CountedTile{std::move(reservation), std::move(copy)});
}

}  // namespace

void CollectingSink::begin(std::shared_ptr<MemoryBudget> memory) {
  CHECK(memory != nullptr, "what is collected counts in a budget");
  memory_ = std::move(memory);
  tiles_ = std::make_shared<BufferedTiles>(memory_, grid_.tile_count());
}

std::shared_ptr<Tile> CollectingSink::whole() {
  constexpr std::int64_t kShare = 16;
  CHECK(memory_ != nullptr && whole_ == nullptr, "a sink that has begun is asked once");
  if (!type_ || grid_.tile_count() < 2 || grid_.shape().element_count() == 0) return nullptr;
  const auto bytes = checked_multiply(grid_.shape().element_count(), static_cast<std::int64_t>(size_of(*type_)));
  if (bytes > memory_->limit() / kShare || bytes > memory_->left() / 2) return nullptr;
  return whole_ = std::make_shared<Tile>(Tile::uninitialized(*type_, grid_.shape()));
}

// A tile with other owners, such as the cache, could not be evicted, so it is copied before memory is short.
void CollectingSink::write(std::int64_t tile_id, TilePtr tile) {
  if (tile == nullptr) return;
  CHECK(tiles_ != nullptr && tile_id >= 0 && tile_id < grid_.tile_count(),
        "a sink that has begun gets tiles of its grid");
  if (whole_ != nullptr && tile->lies_in(*whole_)) return tiles_->put(tile_id, std::move(tile));
  if (tile->is_borrowed()) tile = copy_of(*tile, *memory_);
  else if (!tile->is_of_cells() && tile.use_count() > 1 && memory_->left() < memory_->limit() / 2)
    tile = copy_if_there_is_room(std::move(tile));
  tiles_->put(tile_id, std::move(tile));
}

// Keeps the tile itself if there is no memory for a copy. It cannot be evicted while others own it, but that may end
// soon, for example once it has been written to the scratch file.
TilePtr CollectingSink::copy_if_there_is_room(TilePtr tile) {
  try {
    return copy_of(*tile, *memory_);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::MemoryLimit) throw;
  }
  return tile;
}

}  // namespace eindb
