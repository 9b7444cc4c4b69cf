#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>

#include "storage/tiles/tile_store.hpp"

namespace eindb {

/// Tiles of one tensor that are being changed, inside the caller's SqliteTransaction: a cache in bounded memory that
/// reads tiles from the store and writes them back, the one first that was not used for longest.
/// Uses the connection, whose thread calls it; must be gone before the commit.
class OpenTiles {
 public:
  enum class Content : std::uint8_t {
    Zeros,   ///< the tensor is all zero: a tile that was not written is not looked for
    Stored,  ///< the store may hold any tile
  };

  /// Holds tiles of up to `memory` bytes together, at least one.
  OpenTiles(SqliteConnection& connection, const TileStore& store, std::int64_t memory, Content content);

  /// The tile, to be changed as long as only tiles are asked for that are open.
  bool is_open(std::int64_t tile_id) const { return by_id_.contains(tile_id); }
  Tile& open(std::int64_t tile_id);
  /// Writes all tiles in the order of their numbers, and closes them.
  void flush();

  std::int64_t written() const { return written_; }
  /// Tiles that were read from the store.
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
  std::list<Entry> tiles_;  // the one used last comes first
  std::unordered_map<std::int64_t, std::list<Entry>::iterator> by_id_;
  std::int64_t highest_stored_;  // no tile beyond it is in the store
  std::int64_t written_ = 0;
  std::int64_t read_ = 0;
};

}  // namespace eindb
