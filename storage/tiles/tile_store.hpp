#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "storage/encoding/tile_codec.hpp"
#include "storage/shards/sharded_contents.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "tensor/partition.hpp"
#include "tensor/tile.hpp"

namespace eindb {

class SqliteBlob;

/// The storage of one tensor's tiles:
///
///     eindb_tiles_A(tile_id INTEGER PRIMARY KEY, i INTEGER, j INTEGER, tile BLOB)      for A(i, j)
///
/// in the schema of SQLite that the tensor belongs to: `main`, or `temp` for a temporary tensor, or that of an attached
/// database; the latter two only the session's own connection has.
///
/// tile_id is the row-major number of the key, so the table is clustered by key; i and j are tile coordinates. An
/// all-zero tile has no row. Tiles along a dimension with an edge (TileGrid) are stored with the cells of the whole
/// edge, of which those behind the end are zeros. The rows of a sharded tensor hold a TileReference in place of the
/// tile, whose copies are at workers. They are read and written through the connection's ShardedContents; without it,
/// access throws Error{Unsupported}. A value type without a connection: each call gets the connection to use.
class TileStore {
 public:
  /// `tensor` is the name in its schema. `replicas` is the number of copies of each tile at workers; 0: the tensor is
  /// not sharded. `formats` are those of tiles that are written. Error{Unsupported} beyond kMaxStoredRank.
  TileStore(std::string tensor, std::vector<std::string> labels, StoredType type, TileGrid grid, int replicas = 0,
            std::string schema = std::string(kMainSchema), FormatChoice formats = FormatChoice::Auto);

  const std::string& tensor() const { return tensor_; }
  const std::string& table() const { return table_; }
  /// The table as SQL names it: main."eindb_tiles_A".
  std::string quoted_table() const { return quoted(table_); }
  /// Whether connections to the database's file find the tiles.
  bool is_in_file() const { return schema_ == kMainSchema; }
  /// Of the values of tiles, whatever their encoding.
  DType dtype() const { return type_.values; }
  StoredType type() const { return type_; }
  const TileGrid& grid() const { return grid_; }
  bool is_sharded() const { return replicas_ > 0; }
  int replicas() const { return replicas_; }
  /// "tile [0, 3] of tensor A"
  std::string describe(std::int64_t tile_id) const;

  /// The next five functions run inside the caller's SqliteTransaction.
  void create(SqliteConnection& connection) const;
  void drop(SqliteConnection& connection) const;
  /// Afterwards the tiles belong to a store with the new tensor's name.
  void rename(SqliteConnection& connection, const std::string& new_tensor) const;

  /// Afterwards the tiles belong to a store with these labels.
  void rename_columns(SqliteConnection& connection, const std::vector<std::string>& labels) const;
  /// Gives every row the number that its key has in the store's grid, after that has more parts than before.
  void renumber(SqliteConnection& connection) const;

  /// The tile, or null if it is all zero. Takes the connection's mutex, but not while a worker is asked. Error{Corrupt}
  /// names tensor and key; Error{WorkerLost} if no worker with the tile responds. Takes about 4 microseconds beyond the
  /// copy, since no handle is kept that would pin an old state.
  TilePtr read(SqliteConnection& connection, std::int64_t tile_id) const;
  /// The same with values of a type to which the store's encoding decodes its own; they stay encoded (Tile::encoding).
  TilePtr load(SqliteConnection& connection, std::int64_t tile_id, DType type) const;
  /// Several tiles of any stores of the connection's database, as load() gives them or as tiles of cells, those at
  /// workers in one round trip per worker.
  struct WantedTile {
    const TileStore* store = nullptr;
    std::int64_t tile_id = 0;
    DType type = DType::Float64;
    TileForm form = TileForm::Stored;  ///< Cells: of stores that may_have_cells()
  };
  static std::vector<TilePtr> load_all(SqliteConnection& connection, std::span<const WantedTile> wanted);
  /// The cells of the tile that are not zero, decoded; none if it has no row. Errors as those of read().
  CellList load_cells(SqliteConnection& connection, std::int64_t tile_id, DType type) const;
  /// The tile as one of cells, if coordinates are stored; null otherwise, and where a tile of this shape cannot be of
  /// cells. Errors as those of read().
  TilePtr read_as_cells(SqliteConnection& connection, std::int64_t tile_id) const;
  /// Whether the tile's shape may have cells (CellBlock), and is stored without room behind it.
  bool may_have_cells(std::int64_t tile_id) const;
  /// The label of a tile, unverified; nullopt if there is none, and of tiles at workers that were written before it was
  /// kept.
  std::optional<TileLabel> label(SqliteConnection& connection, std::int64_t tile_id) const;
  /// ShardedContents::mend() for the tile, if it lies at workers.
  void mend(SqliteConnection& connection, std::int64_t tile_id) const;

  /// "eindb_tiles_" + tensor.
  static std::string table_of(const std::string& tensor);

 private:
  friend class TileWriter;
  /// The connection's ShardedContents, or Error{Unsupported}.
  ShardedContents& contents(SqliteConnection& connection) const;
  std::string quoted(const std::string& table) const;
  void rename_table(SqliteConnection& connection, const std::string& from, const std::string& to) const;
  void discard_all(SqliteConnection& connection) const;
  ShardedContents::Wanted wanted(std::int64_t tile_id, DType type, TileForm form) const;
  /// The row's value: the tile, or its location. Runs under the connection's mutex, which is not held while workers are
  /// asked.
  std::variant<TilePtr, LocatedContent> find(SqliteConnection& connection, std::int64_t tile_id, DType type,
                                             TileForm form = TileForm::Stored) const;
  std::variant<TilePtr, LocatedContent> value_of(const ByteSource& row, SqliteConnection& connection,
                                                 std::int64_t tile_id, DType type, TileForm form) const;
  /// Whether the row's value is a reference; then `located` is what it refers to.
  std::optional<LocatedContent> reference_in(const ByteSource& row, SqliteConnection& connection,
                                             std::int64_t tile_id) const;

  std::string tensor_;
  std::string table_;
  std::vector<std::string> labels_;
  StoredType type_;
  TileGrid grid_;
  int replicas_;
  std::string schema_;
  FormatChoice formats_;
};

/// Finds the tiles that have a row, which are the non-zero ones. Takes the connection's mutex for each use, also when
/// it is made and destroyed, so that tasks which share the connection may have one each.
class StoredTileIds {
 public:
  StoredTileIds(SqliteConnection& connection, const TileStore& store);
  ~StoredTileIds();
  StoredTileIds(const StoredTileIds&) = delete;
  StoredTileIds& operator=(const StoredTileIds&) = delete;
  /// The first tile_id that is at least `from`; nullopt if there is none.
  std::optional<std::int64_t> next(std::int64_t from);

 private:
  SqliteConnection& connection_;
  std::optional<SqliteStatement> select_;
};

/// Column names for labels. SQL does not distinguish i from I, so a label that clashes with an earlier one or a
/// reserved name gets a number. Example: i, I, tile with tile reserved gives i, I_2, tile_2.
std::vector<std::string> column_names(const std::vector<std::string>& labels,
                                      std::span<const std::string_view> reserved);

}  // namespace eindb
