#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "storage/sqlite/sqlite_connection.hpp"
#include "storage/tiles/tile_store.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// The source of tiles for the scans of one tensor. Threads: only that of the scanning connection.
class TileReader {
 public:
  virtual ~TileReader() = default;
  /// Null if the tile is all zero.
  virtual TilePtr read(std::int64_t tile_id) = 0;
  /// The same for scans of few cells: a tile of cells where the reader has it without its zeros.
  virtual TilePtr read_cells(std::int64_t tile_id) { return read(tile_id); }
  /// Whether most tiles are of cells, and so better read as such than kept with all values.
  virtual bool has_cells() const { return false; }
  /// The first tile from `from` on that may be nonzero; nullopt if there is none.
  virtual std::optional<std::int64_t> next(std::int64_t from) { return from; }
  /// Bytes of tiles that stay cached: a scan that revisits no more than these reads each tile once.
  virtual std::int64_t kept_bytes() const = 0;

  /// Adds a reader, before its first tile. May throw if the tensor has changed.
  virtual void attach() {}
  virtual void detach() noexcept {}
  /// Called before a scan, since cached tiles may be outdated.
  virtual void begin_scan() {}
};

/// Tiles of a tensor in memory.
class HeldTileReader final : public TileReader {
 public:
  using Tile = std::function<TilePtr(std::int64_t)>;
  /// `tile` returns the tile with a given number, `next` as the function of the reader; without it every tile may be
  /// nonzero. `cells`: tiles are held as cells, and this function returns them so.
  explicit HeldTileReader(Tile tile, std::function<std::optional<std::int64_t>(std::int64_t)> next = {},
                          Tile cells = {})
      : tile_(std::move(tile)), next_(std::move(next)), cells_(std::move(cells)) {}
  TilePtr read(std::int64_t tile_id) override { return tile_(tile_id); }
  TilePtr read_cells(std::int64_t tile_id) override { return cells_ ? cells_(tile_id) : tile_(tile_id); }
  bool has_cells() const override { return cells_ != nullptr; }
  std::optional<std::int64_t> next(std::int64_t from) override { return next_ ? next_(from) : from; }
  std::int64_t kept_bytes() const override {
    return has_cells() ? kKeptOfCells : std::numeric_limits<std::int64_t>::max();
  }

 private:
  // Values that are made from cells are made again where memory is short.
  static constexpr std::int64_t kKeptOfCells = std::int64_t{16} << 20U;

  Tile tile_;
  std::function<std::optional<std::int64_t>(std::int64_t)> next_;
  Tile cells_;
};

/// Tiles of a stored tensor, read through the scanning connection, so that an open transaction sees its own changes.
/// Caches the most recently used tiles while a reader is attached, and drops them after any write. Of tiles that are
/// absent one after the other it asks for the first alone.
class StoredTileReader final : public TileReader {
 public:
  /// `verify` throws if the tensor does not match `store`; called by each attach().
  StoredTileReader(SqliteConnection& connection, TileStore store, std::int64_t kept_bytes,
                   std::function<void()> verify);

  TilePtr read(std::int64_t tile_id) override;
  TilePtr read_cells(std::int64_t tile_id) override;
  std::optional<std::int64_t> next(std::int64_t from) override;
  std::int64_t kept_bytes() const override { return kept_bytes_; }
  void attach() override;
  void detach() noexcept override;
  void begin_scan() override;

 private:
  struct Kept {
    std::int64_t tile_id;  // of a tile of cells its complement
    TilePtr tile;
    std::int64_t bytes;
  };

  /// Tiles without a row, one after the other: those from `begin` to before `end` when the data had this version.
  struct Gap {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::uint64_t version = 0;
  };

  bool is_in_gap(std::int64_t tile_id);
  void find_gap(std::int64_t tile_id);
  TilePtr found(std::int64_t tile_id);
  void keep(std::int64_t tile_id, TilePtr tile);
  void forget() noexcept;

  SqliteConnection& connection_;
  TileStore store_;
  std::int64_t kept_bytes_;
  std::function<void()> verify_;
  int attached_ = 0;
  std::list<Kept> kept_;  // most recently used first
  std::unordered_map<std::int64_t, std::list<Kept>::iterator> by_id_;
  std::int64_t bytes_ = 0;
  std::uint64_t data_version_ = 0;  // of the connection when the tiles were read
  Gap gap_;                         // the one that was found last
};

}  // namespace eindb
