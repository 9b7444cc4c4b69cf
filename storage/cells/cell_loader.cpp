#include "storage/cells/cell_loader.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "storage/cells/cell_locator.hpp"
#include "storage/files/external_sorter.hpp"
#include "storage/tiles/open_tiles.hpp"
#include "storage/tiles/tile_writer.hpp"

namespace eindb {
namespace {

/// Cells between two polls for cancellation.
constexpr std::int64_t kCellsPerCheck = 16384;
/// The most cells that decide how the others are loaded.
constexpr std::int64_t kFirstCells = 65536;
/// More open tiles would only evict others from the page cache.
constexpr std::int64_t kMaxTileMemory = std::int64_t{1} << 30U;

std::int64_t largest_tile(const TileGrid& grid) {
  std::vector<std::int64_t> extents(grid.rank());
  for (std::size_t d = 0; d < grid.rank(); ++d) extents[d] = grid.largest(d);
  return checked_product(extents);
}

}  // namespace

class CellLoader::Base {
 public:
  virtual ~Base() = default;
  virtual void add(const KeyedCell& cell) = 0;
  virtual void finish() = 0;
  virtual Statistics statistics() const = 0;
};

template <class T>
class CellLoader::Loader final : public Base {
 public:
  Loader(SqliteConnection& connection, const TileStore& store, const Cancellation& cancellation,
         CellLoaderOptions options)
      : store_(store),
        cancellation_(cancellation),
        options_(std::move(options)),
        locator_(store.grid()),
        writer_(connection, store),
        tiles_(connection, store, std::min(options_.memory / 4, kMaxTileMemory), OpenTiles::Content::Zeros),
        sorter_(options_.memory / 2, options_.spill_directory, cancellation),
        // To make, or read, and write a tile of 1 MiB takes as long as to sort some thousand cells.
        cells_per_tile_(64 + largest_tile(store.grid()) * static_cast<std::int64_t>(sizeof(T)) / 256),
        most_first_(static_cast<std::size_t>(std::clamp<std::int64_t>(
            options_.memory / 8 / static_cast<std::int64_t>(sizeof(Record)), 1, kFirstCells))) {}

  void add(const KeyedCell& cell) override {
    if (++count_ % kCellsPerCheck == 0) cancellation_.check();
    if (const auto dimension = locator_.outside(cell.key)) fail_outside(cell, *dimension);
    const auto value = to_element<T>(cell.value);
    if (!value) fail_value(cell);
    const auto place = locator_.locate(cell.key);
    if (is_zero(*value)) {
      if (!options_.distinct_keys) sorter_.add({place.position(), cell.line, *value});
      return;
    }
    if (way_ == Way::Undecided) return add_first(place, {place.position(), cell.line, *value});
    add_to(place, {place.position(), cell.line, *value});
  }

  void finish() override {
    decide();
    drain();
    tiles_.flush();
    statistics_.sorted = !sorter_.empty();
    statistics_.spilled = sorter_.has_spilled();
    sorter_.finish();
    if (tiles_.written() > 0) add_sorted();
    else list_sorted();
    tiles_.flush();
    tile_id_ = kNone;
  }

  Statistics statistics() const override {
    auto statistics = statistics_;
    statistics.tiles_opened = tiles_.written();
    statistics.tiles_reloaded = tiles_.read();
    return statistics;
  }

 private:
  static constexpr std::int64_t kNone = -1;

  struct Record {
    std::int64_t position = 0;
    std::int64_t line = 0;
    T value{};
    friend bool operator<(const Record& a, const Record& b) {
      return a.position != b.position ? a.position < b.position : a.line < b.line;
    }
  };

  /// Compares all bits: minus zero shows that a cell was given.
  static bool is_zero(const T& value) {
    static constexpr T kZero{};
    return std::memcmp(&value, &kZero, sizeof(T)) == 0;  // NOLINT(bugprone-suspicious-memory-comparison): see above
  }

  enum class Way : std::uint8_t { Undecided, Direct, Sorted };

  void add_first(const CellLocator::Place& place, const Record& record) {
    first_.push_back(record);
    if (first_tiles_.empty() || place.tile_id != last_tile_) first_tiles_.insert(last_tile_ = place.tile_id);
    if (first_.size() == most_first_) decide();
  }

  // Many cells in few tiles are seen from the first ones, unless they come row by row in a wide tensor.
  void decide() {
    if (way_ != Way::Undecided) return;
    const auto seen = static_cast<std::int64_t>(first_.size());
    const auto expected = options_.expected_cells ? options_.expected_cells(count_) : 0;
    const bool direct = seen / cells_per_tile_ >= static_cast<std::int64_t>(first_tiles_.size()) ||
                        expected / cells_per_tile_ >= store_.grid().tile_count();
    way_ = direct ? Way::Direct : Way::Sorted;
    for (const auto& record : first_) add_to(locator_.at(record.position).place, record);
    first_ = {};
    first_tiles_ = {};
  }

  void add_to(const CellLocator::Place& place, const Record& record) {
    if (way_ == Way::Direct && place.tile_id != tile_id_) move_to(place.tile_id);
    if (way_ == Way::Sorted) return sorter_.add(record);
    put_later({values_ + place.offset, record.value, record.position, record.line});
  }

  void move_to(std::int64_t tile_id) {
    const bool sorting = tiles_.read() * cells_per_tile_ > count_;
    if (sorting) {
      way_ = Way::Sorted;
      return;
    }
    if (!tiles_.is_open(tile_id)) drain();
    values_ = tiles_.open(tile_id).template mutable_data<T>();
    tile_id_ = tile_id;
  }

  /// A cell to be stored in its tile. Unordered cells miss every cache, so a few wait while memory for the next ones is
  /// prefetched.
  struct Pending {
    T* slot = nullptr;
    T value{};
    std::int64_t position = 0;
    std::int64_t line = 0;
  };

  void put(const Pending& cell) const {
    if (!is_zero(*cell.slot)) fail_twice(cell.position, cell.line);
    *cell.slot = cell.value;
  }

  void put_later(const Pending& cell) {
    __builtin_prefetch(cell.slot, 1);
    auto& oldest = pending_[next_pending_++ % pending_.size()];
    if (oldest.slot != nullptr) put(oldest);
    oldest = cell;
  }

  /// Stores all pending cells; required before a tile is closed.
  void drain() {
    DCHECK(tile_id_ == kNone || tiles_.is_open(tile_id_), "cells on their way go into a tile that is open");
    for (std::size_t n = 0; n < pending_.size(); ++n) {
      auto& oldest = pending_[next_pending_++ % pending_.size()];
      if (oldest.slot != nullptr) put(oldest);
      oldest.slot = nullptr;
    }
  }

  /// Calls begin(tile) for each tile that has sorted cells, and take(offset, record) for each of its cells.
  template <class Begin, class Take>
  void for_each_sorted(Begin&& begin, Take&& take) {
    CellLocator::TilePlace tile;
    std::int64_t previous = kNone;
    std::int64_t done = 0;
    for (Record record; sorter_.next(record); previous = record.position) {
      if (++done % kCellsPerCheck == 0) cancellation_.check();
      if (record.position == previous) fail_twice(record.position, record.line);
      DCHECK(record.position >= previous, "cells that were sorted come in ascending order");
      if (record.position >= tile.place.first + tile.size) {
        tile = locator_.at(record.position);
        begin(tile);
      }
      take(record.position - tile.place.first, record);
    }
  }

  /// Into tiles that may have cells.
  void add_sorted() {
    for_each_sorted(
        [&](const CellLocator::TilePlace& tile) {
          values_ = tiles_.open(tile.place.tile_id).template mutable_data<T>();
        },
        [&](std::int64_t offset, const Record& record) {
          put({values_ + offset, record.value, record.position, record.line});
        });
  }

  /// Into tiles that have none. Those with many cells are filled in place, since a list of these takes more memory.
  void list_sorted() {
    writer_.expect_cells(count_);
    for_each_sorted(
        [&](const CellLocator::TilePlace& tile) {
          write_list();
          list_tile_ = tile;
        },
        [&](std::int64_t offset, const Record& record) {
          if (values_ == nullptr && !fits_list()) open_list();
          if (values_ != nullptr) values_[offset] = record.value;
          else if (!is_zero(record.value)) append(static_cast<std::uint32_t>(offset), record.value);
        });
    write_list();
  }

  bool fits_list() const {
    return list_tile_.size <= std::int64_t{UINT32_MAX} &&
           static_cast<std::int64_t>(list_.numbers.size()) < list_tile_.size / 4 + 1;
  }

  void append(std::uint32_t number, const T& value) {
    const auto at = list_.values.size();
    list_.numbers.push_back(number);
    list_.values.resize(at + sizeof(T));
    std::memcpy(list_.values.data() + at, &value, sizeof(T));
  }

  /// Goes on with the tile itself.
  void open_list() {
    values_ = tiles_.open(list_tile_.place.tile_id).template mutable_data<T>();
    for (std::size_t n = 0; n < list_.numbers.size(); ++n)
      std::memcpy(values_ + list_.numbers[n], list_.values.data() + n * sizeof(T), sizeof(T));
    list_.numbers.clear();
    list_.values.clear();
  }

  void write_list() {
    values_ = nullptr;
    if (list_.numbers.empty()) return;
    writer_.write(list_tile_.place.tile_id, std::move(list_));
    list_ = {};
    ++statistics_.tiles_listed;
  }

  std::string place(std::int64_t line) const { return options_.place ? options_.place(line) + ": " : ""; }

  [[noreturn]] void fail_outside(const KeyedCell& cell, std::size_t dimension) const {
    const auto extent = store_.grid().shape()[dimension];
    throw Error(ErrorKind::Value,
                place(cell.line) + "the key " + key_text(cell.key, options_.base) + " lies outside the shape " +
                    store_.grid().shape().to_string(),
                std::nullopt,
                extent == 0 ? "the tensor has no cells"
                            : "index " + std::to_string(dimension + 1) + " goes from " + std::to_string(options_.base) +
                                  " to " + std::to_string(extent - 1 + options_.base));
  }

  [[noreturn]] void fail_value(const KeyedCell& cell) const {
    throw Error(ErrorKind::Value,
                place(cell.line) + std::string(name_of(dtype_of<T>)) + " cannot hold " + to_string(cell.value),
                std::nullopt, "use a tensor of another type");
  }

  [[noreturn]] void fail_twice(std::int64_t position, std::int64_t line) const {
    throw Error(ErrorKind::Value,
                place(line) + "the key " + key_text(locator_.key_at(position), options_.base) + " is given twice",
                std::nullopt, options_.remedy_for_duplicates);
  }

  TileStore store_;
  const Cancellation& cancellation_;
  CellLoaderOptions options_;
  CellLocator locator_;
  TileWriter writer_;
  OpenTiles tiles_;
  ExternalSorter<Record> sorter_;
  std::int64_t cells_per_tile_;
  std::int64_t count_ = 0;
  std::size_t most_first_;
  Way way_ = Way::Undecided;
  std::vector<Record> first_;  // until the way is decided
  std::unordered_set<std::int64_t> first_tiles_;
  std::int64_t last_tile_ = kNone;  // of those
  std::int64_t tile_id_ = kNone;    // the tile whose values are at values_
  T* values_ = nullptr;
  std::array<Pending, 16> pending_;  // a ring; entries without a slot are empty
  std::size_t next_pending_ = 0;
  CellList list_;  // of the tile that sorted cells are for
  CellLocator::TilePlace list_tile_;
  Statistics statistics_;
};

CellLoader::CellLoader(SqliteConnection& connection, const TileStore& store, const Cancellation& cancellation,
                       CellLoaderOptions options) {
  const auto tile_bytes =
      checked_multiply(largest_tile(store.grid()), static_cast<std::int64_t>(size_of(store.dtype())));
  if (tile_bytes > options.memory / 4) {
    throw Error(ErrorKind::MemoryLimit,
                "tiles of " + std::to_string(tile_bytes) + " bytes do not fit a memory limit of " +
                    std::to_string(options.memory) + " bytes",
                std::nullopt, "raise memory_limit to four tiles, or cut the tensor into smaller ones: SET tile_bytes");
  }
  dispatch(store.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    loader_ = std::make_unique<Loader<T>>(connection, store, cancellation, std::move(options));
  });
}

CellLoader::~CellLoader() = default;
void CellLoader::add(const KeyedCell& cell) { loader_->add(cell); }
void CellLoader::finish() { loader_->finish(); }
CellLoader::Statistics CellLoader::statistics() const { return loader_->statistics(); }

}  // namespace eindb
