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

/// What a row of a sharded tensor holds in place of the encoded tile: where that lies. The format stands at the head of
/// tile_reference.cpp.
struct TileReference {
  /// Copies of a tile at the most.
  static constexpr std::size_t kMaxWorkers = 16;

  ContentId content{};
  std::uint64_t bytes = 0;            ///< of the encoded tile
  std::uint64_t checksum = 0;         ///< of the encoded tile, as in its header
  std::vector<WorkerNumber> workers;  ///< 1 to kMaxWorkers, the first one first

  friend bool operator==(const TileReference&, const TileReference&) = default;
};

std::vector<std::byte> encode_reference(const TileReference& reference);

/// Whether these bytes, all of a row's value, begin as a reference does.
bool is_reference(std::span<const std::byte> bytes);
/// Error{Corrupt} with `context`, as decode_tile, for what is none.
TileReference decode_reference(std::span<const std::byte> bytes, std::string_view context);

/// The bytes of a row's value if it is a reference, of which none is too long to be read whole; nullopt for a tile.
std::optional<std::vector<std::byte>> reference_bytes(const ByteSource& value);

}  // namespace eindb
