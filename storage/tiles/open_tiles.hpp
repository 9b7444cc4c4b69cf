#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <list>
#include <optional>
#include <unordered_map>
#include <variant>

#include "storage/tiles/cell_changes.hpp"
#include "storage/tiles/tile_store.hpp"
#include "storage/tiles/tile_writer.hpp"

namespace eindb {

/// A cache of tiles of one tensor that are being changed, inside the caller's SqliteTransaction. It reads tiles from
/// the store and, in bounded memory, writes back the least recently used first. Large tiles of few cells are changed as
/// cells, so that the change of one costs as much as the tile has cells. Uses the connection, on its thread; must be
/// destroyed before the commit.
class OpenTiles {
 public:
  enum class Content : std::uint8_t {
    Zeros,   ///< the tensor starts all zero: tiles not yet written are not looked up
    Stored,  ///< the store may hold any tile
  };

  /// Holds tiles of up to `memory` bytes together, at least one.
  OpenTiles(SqliteConnection& connection, const TileStore& store, std::int64_t memory, Content content);

  /// Whether open() would find the tile in memory. A tile may be changed until open() is called for one that is not
  /// open.
  bool is_open(std::int64_t tile_id) const { return by_id_.contains(tile_id); }
  Tile& open(std::int64_t tile_id);

  /// `count` elements of a tile from `first` on, row-major.
  struct Elements {
    std::int64_t first = 0;
    std::int64_t count = 0;
  };
  /// Sets elements to values of the tile's type; null: to zero. Other elements are not written to the store again.
  void set(std::int64_t tile_id, Elements elements, const std::byte* values);
  /// Calls change(T& element, std::int64_t n) for each of the elements, n counting from 0. T must be the C++ type of
  /// the tile's.
  template <class T, class Change>
  void change(std::int64_t tile_id, Elements elements, const Change& change) {
    auto& entry = find(tile_id);
    if (auto* cells = few_cells(entry, elements.count)) {
      for (std::int64_t n = 0; n < elements.count; ++n) {
        auto* element = cells->at(static_cast<std::uint32_t>(elements.first + n));
        T value;
        std::memcpy(&value, element, sizeof(T));
        change(value, n);
        std::memcpy(element, &value, sizeof(T));
      }
      return account(entry);
    }
    auto* all = dense(entry, elements).template mutable_data<T>() + elements.first;
    for (std::int64_t n = 0; n < elements.count; ++n) change(all[n], n);
  }
  /// Writes all tiles in the order of their numbers, and closes them.
  void flush();

  std::int64_t written() const { return written_; }
  /// The number of tiles read from the store.
  std::int64_t read() const { return read_; }

 private:
  struct Entry {
    std::int64_t tile_id;
    std::variant<Tile, CellChanges> content;
    bool is_stored;                                                 // the store has the elements that are not changed
    std::int64_t begin = std::numeric_limits<std::int64_t>::max();  // of those that are, where all values are there
    std::int64_t end = 0;
    std::int64_t cost = 0;  // in memory, as it is accounted for
  };
  Shape shape_of(std::int64_t tile_id) const { return store_.grid().tile_shape(store_.grid().key_of(tile_id)); }
  // The entry of a tile, which is the most recently used one.
  Entry& find(std::int64_t tile_id);
  // Its cells, if it is changed as cells after this change of that many elements, too; otherwise null.
  CellChanges* few_cells(Entry& entry, std::int64_t changed);
  // All values of an entry that has none but those afterwards.
  Tile& dense(Entry& entry, Elements changed);
  // After a change of the most recently used entry's size.
  void account(Entry& entry);
  void close_last();
  std::optional<CellList> stored_cells(std::int64_t tile_id);
  Entry load(std::int64_t tile_id);
  void write(Entry& entry);

  SqliteConnection& connection_;
  TileStore store_;
  TileWriter writer_;
  std::int64_t memory_;
  std::int64_t used_ = 0;
  std::list<Entry> tiles_;  // most recently used first
  std::unordered_map<std::int64_t, std::list<Entry>::iterator> by_id_;
  std::int64_t highest_stored_;  // no tile with a higher number is in the store
  std::int64_t written_ = 0;
  std::int64_t read_ = 0;
};

}  // namespace eindb
