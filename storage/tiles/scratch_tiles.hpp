#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "storage/files/scratch_file.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Tiles in a scratch file, which is made when the first is written. What a tile took is used again when it is gone.
/// Nothing is kept of a tile in memory but its place, which the caller holds.
/// Thread-safe: reads and writes of several threads run at the same time.
class ScratchTiles {
 public:
  struct Place {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;      ///< of the tile's elements
    std::uint64_t checksum = 0;  ///< XXH3 over them
  };

  /// For the file: see ScratchFile.
  explicit ScratchTiles(std::string directory) : directory_(std::move(directory)) {}

  /// Error{Io} if there is no place for the file, or no room in it.
  Place write(const Tile& tile);
  /// Reads what was written into a tile of the same size. Error{Corrupt} if it is something else by now.
  void read(const Place& place, Tile& tile) const;
  /// The room is free for others.
  void remove(const Place& place) noexcept;

 private:
  std::int64_t take_room(std::int64_t bytes);

  std::string directory_;
  mutable std::mutex mutex_;         // guards what follows; the file itself once it is there needs no guard
  std::optional<ScratchFile> file_;  // set once, before any place is given out
  std::int64_t end_ = 0;
  std::map<std::int64_t, std::vector<std::int64_t>> free_;  // offsets, by size: tiles of a statement have few sizes
};

}  // namespace eindb
