// The format of an encoded tile, version 1. All integers are little-endian.
//
//     offset  size  field
//          0     4  magic "EINT"
//          4     2  format version, 1
//          6     1  element type: the number of DType
//          7     1  codec of the values: 0 = raw
//          8     2  rank r
//         10     6  zero
//         16     8  checksum: XXH3-64 over the header with this field zero, then the values
//         24   8 r  extents, signed
//     24+8r         the values, row-major, little-endian, complex numbers as (real, imaginary)

#include "storage/encoding/tile_codec.hpp"

#include <xxhash.h>
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>  // the same hash with AVX2 or AVX-512 if available: 39 instead of 17 GB/s
#endif

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "common/byte_order.hpp"
#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

static_assert(std::endian::native == std::endian::little, "tiles are stored as they lie in memory");

constexpr std::size_t kFixedSize = 24;
constexpr std::size_t kChecksumOffset = 16;
constexpr std::array<char, 4> kTileMagic{'E', 'I', 'N', 'T'};
constexpr std::uint16_t kVersion = 1;
constexpr std::uint8_t kRawCodec = 0;

/// The checksum field of `header` must be zero.
std::uint64_t checksum(std::span<const std::byte> header, std::span<const std::byte> values) {
  CHECK(load_number<std::uint64_t>(header, kChecksumOffset) == 0, "a checksum does not count itself");
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  const std::unique_ptr<XXH3_state_t, Free> state(XXH3_createState());
  if (state == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset(state.get());
  XXH3_64bits_update(state.get(), header.data(), header.size());
  XXH3_64bits_update(state.get(), values.data(), values.size());
  return XXH3_64bits_digest(state.get());
}

std::size_t header_size(std::size_t rank) { return kFixedSize + 8 * rank; }

[[noreturn]] void corrupt(std::string_view context, const std::string& what) {
  throw Error(ErrorKind::Corrupt, std::string(context) + " is damaged: " + what, std::nullopt,
              "restore the database from a copy, or drop the tensor and make it again");
}

void require(bool holds, std::string_view context, const std::string& what) {
  if (!holds) corrupt(context, what);
}

void verify_fixed_fields(std::span<const std::byte> header, DType type, std::size_t rank, std::string_view context) {
  require(std::memcmp(header.data(), kTileMagic.data(), kTileMagic.size()) == 0, context,
          "it does not begin as a tile");
  const auto version = load_number<std::uint16_t>(header, 4);
  require(version == kVersion, context, "its format version is " + std::to_string(version) + ", known is 1");
  const auto stored_type = dtype_from_code(load_number<std::uint8_t>(header, 6));
  require(stored_type.has_value(), context, "it has an unknown element type");
  require(*stored_type == type, context,
          "it holds " + std::string(name_of(*stored_type)) + ", the tensor " + std::string(name_of(type)));
  require(load_number<std::uint8_t>(header, 7) == kRawCodec, context, "its values are in an unknown encoding");
  const auto stored_rank = load_number<std::uint16_t>(header, 8);
  require(stored_rank == rank, context,
          "it has " + std::to_string(stored_rank) + " dimensions, the tensor " + std::to_string(rank));
  require(load_number<std::uint16_t>(header, 10) == 0 && load_number<std::uint32_t>(header, 12) == 0, context,
          "reserved bytes are not zero");
}

void verify_extents(std::span<const std::byte> header, const Shape& shape, std::string_view context) {
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    const auto extent = load_number<std::int64_t>(header, header_size(d));
    require(extent == shape[d], context,
            "dimension " + std::to_string(d) + " has extent " + std::to_string(extent) + ", expected " +
                std::to_string(shape[d]));
  }
}

std::size_t values_size(DType type, const Shape& shape) {
  return static_cast<std::size_t>(shape.element_count()) * size_of(type);
}

}  // namespace

void MemorySource::read(std::size_t offset, std::span<std::byte> target) const {
  CHECK(offset <= bytes_.size() && target.size() <= bytes_.size() - offset, "a read stays within its source");
  if (!target.empty()) std::memcpy(target.data(), bytes_.data() + offset, target.size());
}

TileHeader::TileHeader(const Tile& tile) : size_(header_size(tile.shape().rank())) {
  const auto& shape = tile.shape();
  if (shape.rank() > kMaxStoredRank) {
    throw Error(ErrorKind::Unsupported, "a tensor of " + std::to_string(shape.rank()) + " dimensions cannot be stored",
                std::nullopt, "at most " + std::to_string(kMaxStoredRank) + " dimensions can");
  }
  CHECK(size_ <= bytes_.size(), "a header has room for all extents");
  const std::span<std::byte> out(bytes_.data(), size_);
  std::memcpy(out.data(), kTileMagic.data(), kTileMagic.size());
  store_number(out, 4, kVersion);
  store_number(out, 6, static_cast<std::uint8_t>(tile.dtype()));
  store_number(out, 7, kRawCodec);
  store_number(out, 8, static_cast<std::uint16_t>(shape.rank()));
  for (std::size_t d = 0; d < shape.rank(); ++d) store_number(out, header_size(d), shape[d]);
  store_number(out, kChecksumOffset, eindb::checksum(out, tile.bytes()));
}

std::uint64_t TileHeader::checksum() const { return load_number<std::uint64_t>(bytes(), kChecksumOffset); }

std::uint64_t encoded_checksum(const ByteSource& source) {
  if (source.size() < kFixedSize) return 0;
  std::array<std::byte, sizeof(std::uint64_t)> field{};
  source.read(kChecksumOffset, field);
  return load_number<std::uint64_t>(field, 0);
}

std::size_t encoded_size(const Tile& tile) { return header_size(tile.shape().rank()) + tile.byte_size(); }

std::vector<std::byte> encode_tile(const Tile& tile) {
  const TileHeader header(tile);
  std::vector<std::byte> out;
  out.reserve(encoded_size(tile));
  out.insert(out.end(), header.bytes().begin(), header.bytes().end());
  out.insert(out.end(), tile.bytes().begin(), tile.bytes().end());
  CHECK(out.size() == encoded_size(tile), "an encoded tile has the size that was said of it");
  return out;
}

Tile decode_tile(const ByteSource& source, DType type, const Shape& shape, std::string_view context) {
  CHECK(shape.rank() <= kMaxStoredRank, "no tensor of more dimensions was stored");
  const auto prefix = header_size(shape.rank());
  require(source.size() >= kFixedSize, context, "it has " + std::to_string(source.size()) + " bytes");
  std::array<std::byte, kFixedSize + 8 * kMaxStoredRank> buffer{};
  const std::span<std::byte> header(buffer.data(), prefix);
  source.read(0, header.first(kFixedSize));
  verify_fixed_fields(header, type, shape.rank(), context);
  const auto expected = prefix + values_size(type, shape);
  require(source.size() == expected, context,
          "it has " + std::to_string(source.size()) + " bytes, expected " + std::to_string(expected));
  source.read(kFixedSize, header.subspan(kFixedSize));
  verify_extents(header, shape, context);

  auto tile = Tile::uninitialized(type, shape);
  CHECK(prefix + tile.byte_size() == expected, "a tile has the bytes that its type and shape take");
  source.read(prefix, tile.mutable_bytes());
  const auto stored = load_number<std::uint64_t>(header, kChecksumOffset);
  store_number(header, kChecksumOffset, std::uint64_t{0});
  require(stored == checksum(header, tile.bytes()), context, "its checksum does not match its values");
  return tile;
}

}  // namespace eindb
