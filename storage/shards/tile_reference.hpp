#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "storage/encoding/tile_codec.hpp"
#include "storage/shards/shard_numbers.hpp"

namespace eindb {

/// A worker in the coordinator's file: its row of eindb_workers.
enum class WorkerNumber : std::uint32_t {};

/// The value of a row of a sharded tensor in place of the encoded tile: the tile's location. The format is documented
/// at the head of tile_reference.cpp.
struct TileReference {
  /// The most copies of a tile.
  static constexpr std::size_t kMaxWorkers = 16;

  ContentId content{};
  std::uint64_t bytes = 0;            ///< of the encoded tile
  std::uint64_t checksum = 0;         ///< of the encoded tile, as in its header
  std::vector<WorkerNumber> workers;  ///< 1 to kMaxWorkers, in the order in which they are tried
  /// Of the encoded tile; nullopt in references that were written before they told it.
  std::optional<TileLabel> label = std::nullopt;

  friend bool operator==(const TileReference&, const TileReference&) = default;
};

std::vector<std::byte> encode_reference(const TileReference& reference);

/// Whether these bytes, a row's whole value, start like a reference.
bool is_reference(std::span<const std::byte> bytes);
/// Error{Corrupt} with `context`, like decode_tile, if the bytes are no reference.
TileReference decode_reference(std::span<const std::byte> bytes, std::string_view context);

/// The bytes of a row's value if it is a reference, which always fits in memory; nullopt for a tile.
std::optional<std::vector<std::byte>> reference_bytes(const ByteSource& value);

}  // namespace eindb
