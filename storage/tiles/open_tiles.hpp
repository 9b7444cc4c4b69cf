#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>

#include "storage/tiles/tile_store.hpp"

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
  Tile& open(std::int64_t tile_id);
  /// Writes all tiles in the order of their numbers, and closes them.
  void flush();

  std::int64_t written() const { return written_; }
  /// The number of tiles read from the store.
  std::int64_t read() const { return read_; }

 private:
  struct Entry {
    std::int64_t tile_id;
    Tile tile;
  };
  static std::int64_t cost_of(const Tile& tile);
  Tile load(std::int64_t tile_id);
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
