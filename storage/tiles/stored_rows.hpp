#pragma once

#include <cstdint>
#include <optional>

#include "storage/tiles/tile_store.hpp"

namespace eindb {

/// Reads what a tensor's rows hold, in ascending order of their tiles: a scan of the table, where TileStore looks each
/// row up, which takes ten times as long for tiles of few cells. Small rows are read where they lie, large ones in
/// pieces. Takes the connection's mutex for each use, also when it is made and destroyed. Nobody may write to the
/// tensor meanwhile.
class StoredRows {
 public:
  StoredRows(SqliteConnection& connection, const TileStore& store);
  ~StoredRows();
  StoredRows(const StoredRows&) = delete;
  StoredRows& operator=(const StoredRows&) = delete;

  /// Goes to the first row whose tile is at least `from`, and returns its tile_id; nullopt if there is none.
  std::optional<std::int64_t> seek(std::int64_t from);
  /// TileStore::label() of the row that was found last.
  std::optional<TileLabel> label();
  /// TileStore::load_cells() of the row that was found last.
  CellList load_cells(DType type);

 private:
  bool step();
  /// The row's bytes where they lie, if they are few and a tile; valid until the next step.
  std::optional<std::span<const std::byte>> small_tile() const;

  SqliteConnection& connection_;
  const TileStore& store_;
  std::optional<SqliteStatement> select_;
  std::optional<std::int64_t> found_;
};

}  // namespace eindb
