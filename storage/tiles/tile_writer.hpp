#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "storage/encoding/tile_codec.hpp"
#include "storage/shards/sharded_contents.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "storage/tiles/tile_store.hpp"
#include "tensor/tile.hpp"
#include "tensor/tile_placement.hpp"

namespace eindb {

/// A content that a worker has put by itself: a tile of a result, stored at the worker that computed it.
struct PutContent {
  ContentId content{};         ///< one of those that ShardedContents::announce() returned for the transaction
  std::uint64_t bytes = 0;     ///< of the encoded tile
  std::uint64_t checksum = 0;  ///< as in its header
  std::vector<ShardWorker> workers;
  TileLabel label = {};  ///< as its header tells it
};

/// Writes tiles of one tensor inside the caller's SqliteTransaction; must be destroyed before the commit. Tasks may
/// share it: each write takes the connection's mutex.
class TileWriter {
 public:
  TileWriter(SqliteConnection& connection, const TileStore& store);

  /// Sets the tile, whose type and shape must be the store's. An all-zero tile removes the row. Error{Unsupported} for
  /// tiles beyond SQLite's limit of 1e9 bytes, Error{Value} for values that the store's encoding does not hold.
  void write(std::int64_t tile_id, const Tile& tile);
  /// The same for a tile that is zero but for these cells. Makes no dense tile, unless that is how the cells are
  /// stored.
  void write(std::int64_t tile_id, CellList cells);
  /// Like write(), optimised for a tile that already exists: overwrites it in place if the sizes match.
  void replace(std::int64_t tile_id, const Tile& tile);
  /// The same where only the elements from `begin` to before `end` differ from those of the stored tile.
  void replace(std::int64_t tile_id, const Tile& tile, std::int64_t begin, std::int64_t end);
  /// From here on tiles come in ascending order, with about so many cells together: at workers they lie in runs
  /// (RunsOfCells) rather than as TilePlacement has them.
  void expect_cells(std::int64_t cells);
  /// Makes the tile all zero.
  void clear(std::int64_t tile_id) { remove(tile_id); }
  /// Like write(), for a tile of a sharded tensor that is already at the workers.
  void refer(std::int64_t tile_id, const PutContent& put);

 private:
  void check(std::int64_t tile_id, const Tile& tile) const;
  void check_size(std::int64_t tile_id) const;
  std::optional<Tile> room_of(std::int64_t tile_id, const Tile& tile) const;
  EncodedTile encode(std::int64_t tile_id, const Tile& tile) const;
  CellNamer namer(std::int64_t tile_id, const Shape& room) const;
  void put(std::int64_t tile_id, const EncodedTile& tile);
  void insert(std::int64_t tile_id, const EncodedTile& tile);
  bool overwrite(std::int64_t tile_id, const EncodedTile& tile, std::span<const std::byte> changed);
  void send(std::int64_t tile_id, const EncodedTile& tile);
  void insert_reference(std::int64_t tile_id, const TileReference& reference);
  void remove(std::int64_t tile_id);
  /// Marks the content that the row refers to, if any, as garbage.
  void discard(std::int64_t tile_id);
  std::vector<ShardWorker> holders_of(std::int64_t tile_id, const TileLabel& label);
  const std::vector<WorkerNumber>& numbers_of(const std::vector<ShardWorker>& workers);
  void bind_key(SqliteStatement& row, std::int64_t tile_id) const;

  SqliteConnection& connection_;
  TileStore store_;
  ShardedContents* contents_;  // set for a sharded tensor
  std::vector<ShardWorker> workers_;
  std::optional<TilePlacement> placement_;  // over these workers
  std::optional<RunsOfCells> runs_;         // likewise, where cells are expected
  SqliteStatement insert_;
  SqliteStatement remove_;
  std::optional<SqliteStatement> select_;
  std::vector<ShardWorker> last_holders_;   // of the tile that was written last, mostly also of the next
  std::vector<WorkerNumber> last_numbers_;  // of these
};

}  // namespace eindb
