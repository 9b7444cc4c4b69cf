#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <unordered_map>
#include <vector>

#include "storage/sqlite/sqlite_connection.hpp"
#include "storage/tiles/tile_store.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Where the scans of one tensor get its tiles from. Threads: one, that of the connection which scans.
class TileReader {
 public:
  virtual ~TileReader() = default;
  /// Null if the tile is all zero.
  virtual TilePtr read(std::int64_t tile_id) = 0;
  /// Bytes of tiles that stay at hand: whoever comes back to no more than these reads each tile once.
  virtual std::int64_t kept_bytes() const = 0;

  /// One more reader, before its first tile; may throw because the tensor is not what it was.
  virtual void attach() {}
  virtual void detach() noexcept {}
  /// Before a scan: what was kept may be out of date.
  virtual void begin_scan() {}
};

/// Tiles of a tensor that somebody has at hand.
class HeldTileReader final : public TileReader {
 public:
  /// `tile` gives the tile of a number.
  explicit HeldTileReader(std::function<TilePtr(std::int64_t)> tile) : tile_(std::move(tile)) {}
  TilePtr read(std::int64_t tile_id) override { return tile_(tile_id); }
  std::int64_t kept_bytes() const override { return std::numeric_limits<std::int64_t>::max(); }

 private:
  std::function<TilePtr(std::int64_t)> tile_;
};

/// Tiles of a stored tensor, read through the connection that scans, so that an open transaction sees its own. Keeps
/// those that were used last while anybody is attached, and forgets them when anything was written.
class StoredTileReader final : public TileReader {
 public:
  /// `verify` throws if the tensor is not what `store` says; called at each attach().
  StoredTileReader(SqliteConnection& connection, TileStore store, std::int64_t kept_bytes,
                   std::function<void()> verify);

  TilePtr read(std::int64_t tile_id) override;
  std::int64_t kept_bytes() const override { return kept_bytes_; }
  void attach() override;
  void detach() noexcept override;
  void begin_scan() override;

 private:
  struct Kept {
    std::int64_t tile_id;
    TilePtr tile;
    std::int64_t bytes;
  };

  void keep(std::int64_t tile_id, TilePtr tile);
  void forget() noexcept;

  SqliteConnection& connection_;
  TileStore store_;
  std::int64_t kept_bytes_;
  std::function<void()> verify_;
  int attached_ = 0;
  std::list<Kept> kept_;  // the one used last first
  std::unordered_map<std::int64_t, std::list<Kept>::iterator> by_id_;
  std::int64_t bytes_ = 0;
  std::uint64_t data_version_ = 0;  // of the connection, when the tiles were read
};

}  // namespace eindb
