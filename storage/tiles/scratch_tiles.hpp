#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/files/scratch_file.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Tiles in a scratch file, which is created with the first tile. The space of a removed tile is reused. The only data
/// in memory about a tile is its Place, which the caller keeps. Thread-safe: reads and writes run concurrently.
class ScratchTiles {
 public:
  struct Place {
    /// The numbers of coordinates and of beginnings in a level of a tile of cells (tensor/cell_block).
    struct Level {
      std::size_t coordinates = 0;
      std::size_t begins = 0;
    };
    DType dtype = DType::Float64;
    Shape shape;
    std::vector<Level> levels = {};  ///< of a tile of cells; empty: the tile has all values
    std::int64_t offset = 0;
    std::int64_t bytes = 0;      ///< of the tile's elements, or of its cells
    std::uint64_t checksum = 0;  ///< XXH3 over them
  };

  /// `directory` is that of the file; see ScratchFile.
  explicit ScratchTiles(std::string directory) : directory_(std::move(directory)) {}

  /// A tile with plain elements, or of cells. Error{Io} if the file cannot be created or has no space.
  Place write(const Tile& tile);
  /// The tile at `place`, which takes as many bytes of memory. Error{Corrupt} if the bytes have changed.
  Tile read(const Place& place) const;
  /// Frees the space for other tiles.
  void remove(const Place& place) noexcept;

 private:
  std::int64_t take_room(std::int64_t bytes);
  void read_into(const Place& place, std::span<const std::span<std::byte>> pieces) const;

  std::string directory_;
  mutable std::mutex mutex_;         // guards the members below; the file needs no guard once it exists
  std::optional<ScratchFile> file_;  // set once, before any place is given out
  std::int64_t end_ = 0;
  std::map<std::int64_t, std::vector<std::int64_t>> free_;  // offsets by size; the tiles of a statement have few sizes
};

}  // namespace eindb
