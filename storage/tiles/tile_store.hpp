#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "storage/shards/sharded_contents.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "tensor/partition.hpp"
#include "tensor/tile.hpp"
#include "tensor/tile_placement.hpp"

namespace eindb {

class SqliteBlob;

/// Where the tiles of one tensor lie:
///
///     eindb_tiles_A(tile_id INTEGER PRIMARY KEY, i INTEGER, j INTEGER, tile BLOB)      for A(i, j)
///
/// tile_id is the row-major number of the key, so that the table is clustered by key; i and j are tile coordinates.
/// A tile that is all zero has no row. Of a sharded tensor the row holds a TileReference in place of the tile, whose
/// copies lie at workers; they are read and written by way of the connection's ShardedContents, without which that is
/// Error{Unsupported}. A value: it holds no connection; each call takes the one to work on.
class TileStore {
 public:
  /// `replicas`: copies of each tile at workers; 0: the tensor is not sharded. Error{Unsupported} beyond
  /// kMaxStoredRank.
  TileStore(std::string tensor, const std::vector<std::string>& labels, DType dtype, TileGrid grid, int replicas = 0);

  const std::string& tensor() const { return tensor_; }
  const std::string& table() const { return table_; }
  DType dtype() const { return dtype_; }
  const TileGrid& grid() const { return grid_; }
  bool is_sharded() const { return replicas_ > 0; }
  int replicas() const { return replicas_; }
  /// "tile [0, 3] of tensor A"
  std::string describe(std::int64_t tile_id) const;

  /// These run inside the caller's SqliteTransaction.
  void create(SqliteConnection& connection) const;
  void drop(SqliteConnection& connection) const;
  /// Afterwards the tiles belong to a store of the new tensor's name.
  void rename(SqliteConnection& connection, const std::string& new_tensor) const;

  /// The tile, or null if it is all zero. Takes the connection's mutex, but not while a worker is asked. Error{Corrupt}
  /// names tensor and key; Error{WorkerLost} where no worker that has the tile answers.
  /// About 4 microseconds beyond the copy: no handle is kept, so that no old state is pinned.
  TilePtr read(SqliteConnection& connection, std::int64_t tile_id) const;
  /// ShardedContents::mend() for the tile, if it lies at workers.
  void mend(SqliteConnection& connection, std::int64_t tile_id) const;

  /// "eindb_tiles_" + tensor.
  static std::string table_of(const std::string& tensor);

 private:
  friend class TileWriter;
  void discard_all(SqliteConnection& connection) const;
  ShardedContents::Wanted wanted(std::int64_t tile_id) const;
  /// What the row holds: the tile, or where it lies. Under the connection's mutex, which nobody waits for while workers
  /// are asked.
  std::variant<TilePtr, LocatedContent> find(SqliteConnection& connection, std::int64_t tile_id) const;
  std::variant<TilePtr, LocatedContent> value_of(const ByteSource& row, SqliteConnection& connection,
                                                 std::int64_t tile_id) const;

  std::string tensor_;
  std::string table_;
  std::vector<std::string> columns_;
  DType dtype_;
  TileGrid grid_;
  int replicas_;
};

/// A content that workers have put by themselves: a tile of a result, at the worker where it was computed.
struct PutContent {
  ContentId content{};         ///< one of those that ShardedContents::announce() gave for the transaction
  std::uint64_t bytes = 0;     ///< of the encoded tile
  std::uint64_t checksum = 0;  ///< in its header
  std::vector<ShardWorker> workers;
};

/// Writes tiles of one tensor inside the caller's SqliteTransaction; must be gone before the commit.
/// Tasks may share it: each write takes the connection's mutex.
class TileWriter {
 public:
  TileWriter(SqliteConnection& connection, const TileStore& store);

  /// Sets the tile; the tile's type and shape are the store's. An all-zero tile removes the row.
  /// Error{Unsupported} for tiles beyond SQLite's limit of 1e9 bytes.
  void write(std::int64_t tile_id, const Tile& tile);
  /// The same where there is a tile of this place already, as a rule: it is overwritten in place.
  void replace(std::int64_t tile_id, const Tile& tile);
  /// The tile is all zero.
  void clear(std::int64_t tile_id) { remove(tile_id); }
  /// The same for a tile of a sharded tensor that is at the workers already.
  void refer(std::int64_t tile_id, const PutContent& put);

 private:
  void check(std::int64_t tile_id, const Tile& tile) const;
  void insert(std::int64_t tile_id, const TileHeader& header, const Tile& tile);
  bool overwrite(std::int64_t tile_id, const TileHeader& header, const Tile& tile);
  static void fill(SqliteBlob& blob, const TileHeader& header, const Tile& tile);
  void send(std::int64_t tile_id, const TileHeader& header, const Tile& tile);
  void insert_reference(std::int64_t tile_id, const TileReference& reference);
  void remove(std::int64_t tile_id);
  /// What the row refers to, if there is one, is garbage.
  void discard(std::int64_t tile_id);
  std::vector<ShardWorker> holders_of(std::int64_t tile_id) const;
  void bind_key(SqliteStatement& row, std::int64_t tile_id) const;

  SqliteConnection& connection_;
  TileStore store_;
  ShardedContents* contents_;  // of a sharded tensor
  std::vector<ShardWorker> workers_;
  std::optional<TilePlacement> placement_;  // on these
  SqliteStatement insert_;
  SqliteStatement remove_;
  std::optional<SqliteStatement> select_;
};

/// Finds the tiles that have a row: those that are not all zero. Threads: as its connection.
class StoredTileIds {
 public:
  StoredTileIds(SqliteConnection& connection, const TileStore& store);
  /// The first tile_id from `from` on; nullopt beyond the last.
  std::optional<std::int64_t> next(std::int64_t from);

 private:
  SqliteConnection& connection_;
  SqliteStatement select_;
};

/// Column names for labels: SQL does not tell i from I, so that a label that an earlier one or a reserved name clashes
/// with gets a number. Example: i, I, tile with tile reserved gives i, I_2, tile_2.
std::vector<std::string> column_names(const std::vector<std::string>& labels,
                                      std::span<const std::string_view> reserved);

}  // namespace eindb
