#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tensor/tile.hpp"

namespace eindb {

/// The most dimensions of a stored tensor.
inline constexpr std::size_t kMaxStoredRank = 64;

/// Bytes stored elsewhere (a blob, a file, a buffer) that are read in pieces.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual std::size_t size() const = 0;
  /// Fills `target` from `offset` on; the caller must stay within size().
  virtual void read(std::size_t offset, std::span<std::byte> target) const = 0;
};

/// A buffer in memory as a source.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::size_t size() const override { return bytes_.size(); }
  void read(std::size_t offset, std::span<std::byte> target) const override;

 private:
  std::span<const std::byte> bytes_;
};

/// The bytes before the values of an encoded tile. The format is documented at the head of tile_codec.cpp.
class TileHeader {
 public:
  /// Fills in all fields and the checksum over them and the values. Error{Unsupported} beyond kMaxStoredRank.
  explicit TileHeader(const Tile& tile);
  std::span<const std::byte> bytes() const { return {bytes_.data(), size_}; }
  std::uint64_t checksum() const;

 private:
  std::array<std::byte, 24 + 8 * kMaxStoredRank> bytes_{};
  std::size_t size_;
};

/// Bytes of an encoded tile, header included.
std::size_t encoded_size(const Tile& tile);
/// Header and values in one buffer.
std::vector<std::byte> encode_tile(const Tile& tile);

/// The checksum in the header of an encoded tile; 0 if the bytes are too short.
std::uint64_t encoded_checksum(const ByteSource& source);

/// Decodes the tile of `type` and `shape` in `source`, reading values straight into the tile's memory. Every field and
/// the checksum are verified, sizes before memory is allocated. Error{Corrupt} on a mismatch; `context` names the
/// bytes' origin: "tile [0, 3] of tensor A".
Tile decode_tile(const ByteSource& source, DType type, const Shape& shape, std::string_view context);

}  // namespace eindb
