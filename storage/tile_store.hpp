#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/sqlite_connection.hpp"
#include "tensor/partition.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Where the tiles of one tensor lie:
///
///     eindb_tiles_A(tile_id INTEGER PRIMARY KEY, i INTEGER, j INTEGER, tile BLOB)      for A(i, j)
///
/// tile_id is the row-major number of the key, so that the table is clustered by key; i and j are tile coordinates.
/// A tile that is all zero has no row. A value: it holds no connection; each call takes the one to work on.
class TileStore {
 public:
  /// Error{Unsupported} beyond kMaxStoredRank.
  TileStore(std::string tensor, const std::vector<std::string>& labels, DType dtype, TileGrid grid);

  const std::string& tensor() const { return tensor_; }
  const std::string& table() const { return table_; }
  DType dtype() const { return dtype_; }
  const TileGrid& grid() const { return grid_; }

  /// These run inside the caller's SqliteTransaction.
  void create(SqliteConnection& connection) const;
  void drop(SqliteConnection& connection) const;
  /// Afterwards the tiles belong to a store of the new tensor's name.
  void rename(SqliteConnection& connection, const std::string& new_tensor) const;

  /// The tile, or null if it is all zero. Takes the connection's mutex. Error{Corrupt} names tensor and key.
  /// About 4 microseconds beyond the copy: no handle is kept, so that no old state is pinned.
  TilePtr read(SqliteConnection& connection, std::int64_t tile_id) const;

  /// "eindb_tiles_" + tensor.
  static std::string table_of(const std::string& tensor);

 private:
  friend class TileWriter;
  std::string describe(std::int64_t tile_id) const;

  std::string tensor_;
  std::string table_;
  std::vector<std::string> columns_;
  DType dtype_;
  TileGrid grid_;
};

/// Writes tiles of one tensor inside the caller's SqliteTransaction; must be gone before the commit.
/// Tasks may share it: each write takes the connection's mutex.
class TileWriter {
 public:
  TileWriter(SqliteConnection& connection, const TileStore& store);

  /// Sets the tile; the tile's type and shape are the store's. An all-zero tile removes the row.
  /// Error{Unsupported} for tiles beyond SQLite's limit of 1e9 bytes.
  void write(std::int64_t tile_id, const Tile& tile);

 private:
  void remove(std::int64_t tile_id);

  SqliteConnection& connection_;
  TileStore store_;
  SqliteStatement insert_;
  SqliteStatement remove_;
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
