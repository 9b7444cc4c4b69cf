// The format of an encoded tile, version 1. All integers are little-endian.
//
//     offset  size  field
//          0     4  magic "EINT"
//          4     2  format version, 1
//          6     1  element type: the number of DType
//          7     1  encoding of the values: the number of Encoding; 0 = plain
//          8     2  rank r
//         10     6  zero
//         16     8  checksum: XXH3-64 over the header with this field zero, then the values
//         24   8 r  extents, signed
//     24+8r         the values, row-major, little-endian, complex numbers as (real, imaginary)
//
// An encoding's values are integers and floats of its bits, little-endian; BOOL has the first of eight cells in the
// lowest bit. Q8_0 has, for each 32 cells in row-major order, a binary16 and 32 signed bytes that it scales; Q4_0 a
// binary16 and 16 bytes, of which byte n has cell n in its lower and cell n + 16 in its upper half, each plus 8. What
// is left of the last unit is zero.

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
#include "tensor/cell_encoding.hpp"

namespace eindb {
namespace {

static_assert(std::endian::native == std::endian::little, "tiles are stored as they lie in memory");

constexpr std::size_t kFixedSize = 24;
constexpr std::size_t kChecksumOffset = 16;
constexpr std::array<char, 4> kTileMagic{'E', 'I', 'N', 'T'};
constexpr std::uint16_t kVersion = 1;

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

// Returns the type of the stored values.
StoredType verify_fixed_fields(std::span<const std::byte> header, DType type, std::size_t rank,
                               std::string_view context) {
  require(std::memcmp(header.data(), kTileMagic.data(), kTileMagic.size()) == 0, context,
          "it does not begin as a tile");
  const auto version = load_number<std::uint16_t>(header, 4);
  require(version == kVersion, context, "its format version is " + std::to_string(version) + ", known is 1");
  const auto stored_type = dtype_from_code(load_number<std::uint8_t>(header, 6));
  require(stored_type.has_value(), context, "it has an unknown element type");
  const auto encoding = encoding_from_code(load_number<std::uint8_t>(header, 7));
  require(encoding.has_value(), context, "its values are in an unknown encoding");
  const StoredType stored{*stored_type, *encoding};
  require(*encoding == Encoding::Plain || with_encoding(*encoding) == stored, context,
          "its values are not of the type that their encoding has");
  require(decodes_to(stored, type), context,
          "it holds " + std::string(name_of(stored)) + ", the tensor " + std::string(name_of(type)));
  const auto stored_rank = load_number<std::uint16_t>(header, 8);
  require(stored_rank == rank, context,
          "it has " + std::to_string(stored_rank) + " dimensions, the tensor " + std::to_string(rank));
  require(load_number<std::uint16_t>(header, 10) == 0 && load_number<std::uint32_t>(header, 12) == 0, context,
          "reserved bytes are not zero");
  return stored;
}

void verify_extents(std::span<const std::byte> header, const Shape& shape, std::string_view context) {
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    const auto extent = load_number<std::int64_t>(header, header_size(d));
    require(extent == shape[d], context,
            "dimension " + std::to_string(d) + " has extent " + std::to_string(extent) + ", expected " +
                std::to_string(shape[d]));
  }
}

std::size_t values_size(StoredType type, const Shape& shape) {
  return static_cast<std::size_t>(encoded_bytes(type, shape.element_count()));
}

[[noreturn]] void refuse_value(StoredType type, const Tile& tile, std::int64_t cell, const CellNamer& name) {
  std::string value;
  if (type.values == DType::Int64) value = std::to_string(tile.data<std::int64_t>()[cell]);
  const auto place = name ? name(cell) : "a cell";
  if (type.encoding == Encoding::Bool)
    throw Error(ErrorKind::Value, place + " would be " + value + ", and BOOL holds 0 and 1", std::nullopt,
                "a condition gives those: x <> 0");
  if (type.values == DType::Int64)
    throw Error(ErrorKind::Value,
                place + " would be " + value + ", which " + std::string(name_of(type)) + " does not hold", std::nullopt,
                "a wider type holds it, or LEAST(GREATEST(x, lowest), highest) bounds it");
  throw Error(ErrorKind::Value,
              place + " is in a block with an infinity, a NaN or too large a value, which " +
                  std::string(name_of(type)) + " cannot scale",
              std::nullopt, "BFLOAT16 holds such values");
}

}  // namespace

void MemorySource::read(std::size_t offset, std::span<std::byte> target) const {
  CHECK(offset <= bytes_.size() && target.size() <= bytes_.size() - offset, "a read stays within its source");
  if (!target.empty()) std::memcpy(target.data(), bytes_.data() + offset, target.size());
}

EncodedTile::EncodedTile(const Tile& tile, Encoding encoding, const CellNamer& name)
    : type_(encoding == Encoding::Plain ? StoredType(tile.dtype()) : with_encoding(encoding)),
      header_size_(header_size(tile.shape().rank())),
      values_(tile.bytes()) {
  const auto& shape = tile.shape();
  if (shape.rank() > kMaxStoredRank) {
    throw Error(ErrorKind::Unsupported, "a tensor of " + std::to_string(shape.rank()) + " dimensions cannot be stored",
                std::nullopt, "at most " + std::to_string(kMaxStoredRank) + " dimensions can");
  }
  CHECK(header_size_ <= header_.size(), "a header has room for all extents");
  if (tile.encoding() != encoding) {
    CHECK(!tile.is_encoded() && tile.dtype() == type_.values, "a tile has the values that its encoding encodes");
    buffer_.resize(values_size(type_, shape));
    if (const auto fault = encode_cells(type_, tile.bytes(), shape.element_count(), buffer_))
      refuse_value(type_, tile, *fault, name);
    values_ = buffer_;
  }
  const std::span<std::byte> out(header_.data(), header_size_);
  std::memcpy(out.data(), kTileMagic.data(), kTileMagic.size());
  store_number(out, 4, kVersion);
  store_number(out, 6, static_cast<std::uint8_t>(type_.values));
  store_number(out, 7, static_cast<std::uint8_t>(encoding));
  store_number(out, 8, static_cast<std::uint16_t>(shape.rank()));
  for (std::size_t d = 0; d < shape.rank(); ++d) store_number(out, header_size(d), shape[d]);
  store_number(out, kChecksumOffset, eindb::checksum(out, values_));
}

std::span<const std::byte> EncodedTile::values(std::int64_t begin, std::int64_t end) const {
  const auto [cells, bytes] = unit_of(type_);
  CHECK(0 <= begin && begin <= end, "cells lie in their tile");
  const auto first = static_cast<std::size_t>(begin / cells * bytes);
  const auto last = static_cast<std::size_t>(encoded_bytes(type_, end));
  CHECK(last <= values_.size(), "cells lie in their tile");
  return begin == end ? std::span<const std::byte>() : values_.subspan(first, last - first);
}

std::uint64_t EncodedTile::checksum() const { return load_number<std::uint64_t>(header(), kChecksumOffset); }

std::uint64_t encoded_checksum(const ByteSource& source) {
  if (source.size() < kFixedSize) return 0;
  std::array<std::byte, sizeof(std::uint64_t)> field{};
  source.read(kChecksumOffset, field);
  return load_number<std::uint64_t>(field, 0);
}

std::size_t encoded_size(const Tile& tile, Encoding encoding) {
  return header_size(tile.shape().rank()) + values_size({tile.dtype(), encoding}, tile.shape());
}

std::vector<std::byte> encode_tile(const Tile& tile, Encoding encoding) {
  const EncodedTile encoded(tile, encoding);
  std::vector<std::byte> out;
  out.reserve(encoded.size());
  out.insert(out.end(), encoded.header().begin(), encoded.header().end());
  out.insert(out.end(), encoded.values().begin(), encoded.values().end());
  CHECK(out.size() == encoded_size(tile, encoding), "an encoded tile has the size that was said of it");
  return out;
}

Tile load_tile(const ByteSource& source, DType type, const Shape& shape, std::string_view context) {
  CHECK(shape.rank() <= kMaxStoredRank, "no tensor of more dimensions was stored");
  const auto prefix = header_size(shape.rank());
  require(source.size() >= kFixedSize, context, "it has " + std::to_string(source.size()) + " bytes");
  std::array<std::byte, kFixedSize + 8 * kMaxStoredRank> buffer{};
  const std::span<std::byte> header(buffer.data(), prefix);
  source.read(0, header.first(kFixedSize));
  const auto stored = verify_fixed_fields(header, type, shape.rank(), context);
  const auto expected = prefix + values_size(stored, shape);
  require(source.size() == expected, context,
          "it has " + std::to_string(source.size()) + " bytes, expected " + std::to_string(expected));
  source.read(kFixedSize, header.subspan(kFixedSize));
  verify_extents(header, shape, context);

  const bool is_encoded = stored.encoding != Encoding::Plain;
  auto tile = is_encoded ? Tile::encoded(type, stored.encoding, shape) : Tile::uninitialized(type, shape);
  CHECK(prefix + tile.byte_size() == expected, "a tile has the bytes that its type and shape take");
  source.read(prefix, tile.mutable_bytes());
  const auto told = load_number<std::uint64_t>(header, kChecksumOffset);
  store_number(header, kChecksumOffset, std::uint64_t{0});
  require(told == checksum(header, tile.bytes()), context, "its checksum does not match its values");
  return tile;
}

Tile decode_tile(const ByteSource& source, DType type, const Shape& shape, std::string_view context) {
  auto tile = load_tile(source, type, shape, context);
  return tile.is_encoded() ? decoded(tile) : std::move(tile);
}

}  // namespace eindb
