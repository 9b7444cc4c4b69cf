#pragma once

#include <cstdint>
#include <limits>
#include <list>
#include <unordered_map>

#include "storage/tiles/tile_store.hpp"
#include "storage/tiles/tile_writer.hpp"

namespace eindb {

/// A cache of tiles of one tensor that are being changed, inside the caller's SqliteTransaction. It reads tiles from
/// the store and, in bounded memory, writes back the least recently used first. Uses the connection, on its thread;
/// must be destroyed before the commit.
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
  Tile& open(std::int64_t tile_id) { return open(tile_id, kAll); }
  /// The same where only `count` elements from `first` on will be changed: others are not written to the store again.
  struct Elements {
    std::int64_t first = 0;
    std::int64_t count = 0;
  };
  Tile& open(std::int64_t tile_id, Elements changed);
  /// Writes all tiles in the order of their numbers, and closes them.
  void flush();

  std::int64_t written() const { return written_; }
  /// The number of tiles read from the store.
  std::int64_t read() const { return read_; }

 private:
  static constexpr Elements kAll{0, std::numeric_limits<std::int64_t>::max()};
  struct Entry {
    std::int64_t tile_id;
    Tile tile;
    bool is_stored;                                                 // the store has the elements that are not changed
    std::int64_t begin = std::numeric_limits<std::int64_t>::max();  // of those that are
    std::int64_t end = 0;

    void note(Elements changed);
  };
  static std::int64_t cost_of(const Tile& tile);
  Entry load(std::int64_t tile_id);
  void write(const Entry& entry);

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
