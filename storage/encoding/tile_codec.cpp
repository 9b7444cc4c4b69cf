// The format of an encoded tile. All integers are little-endian. A dense tile is version 1, all others are version 2,
// which programs that know version 1 alone refuse by its number.
//
//     offset  size  field
//          0     4  magic "EINT"
//          4     2  format version
//          6     1  element type: the number of DType
//          7     1  encoding of the values: the number of Encoding; 0 = plain
//          8     2  rank r
//         10     1  the number of TileFormat; 0 = dense
//         11     1  1 if the stored cells have one value, else 0
//         12     4  the count k of stored cells; 0 if the tile is dense
//         16     8  checksum: XXH3-64 over the header with this field zero, then all that follows it
//         24   8 r  extents, signed
//     24+8r         dense: the values, row-major, little-endian, complex numbers as (real, imaginary)
//                   otherwise: the values of the stored cells in that order, or the one value that they have; then, of
//                     constant     nothing; k is the number of all cells, or 0 if the value is zero
//                     coordinates  the cells' row-major numbers, packed (storage/encoding/cell_numbers.hpp)
//                     bitmap       a bit for each cell of the tile, the first of eight in the lowest; it is 1 if the
//                                  cell is stored
//                   A cell that is not stored has no bit set in its value: minus zero is stored.
//
// An encoding's values are integers and floats of its bits, little-endian; BOOL has the first of eight cells in the
// lowest bit, but in tiles that are not dense one value of a byte. Q8_0 has, for each 32 cells in row-major order, a
// binary16 and 32 signed bytes that it scales; Q4_0 a binary16 and 16 bytes, of which byte n has cell n in its lower
// and cell n + 16 in its upper half, each plus 8. What is left of the last unit is zero. Q8_0 and Q4_0 are always
// dense.
//
// Example: FLOAT32 cells 0 0 5 0 0 5 0 0 as coordinates are the value 5.0F (0x40a00000) once, then, since the gaps 2
// and 2 take 2 bits each, the bytes 2 and 0x0a.

#include "storage/encoding/tile_codec.hpp"

#include <xxhash.h>
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>  // the same hash with AVX2 or AVX-512 if available: 39 instead of 17 GB/s
#endif

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

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
constexpr std::uint16_t kDenseVersion = 1;
constexpr std::uint16_t kSparseVersion = 2;
constexpr std::size_t kFormatOffset = 10;

/// The checksum of bytes that are given in pieces: those of the header first, with the checksum's field zero.
class RunningChecksum {
 public:
  RunningChecksum() : state_(XXH3_createState()) {
    if (state_ == nullptr) throw std::bad_alloc();
    XXH3_64bits_reset(state_.get());
  }
  void add(std::span<const std::byte> bytes) { XXH3_64bits_update(state_.get(), bytes.data(), bytes.size()); }
  std::uint64_t value() const { return XXH3_64bits_digest(state_.get()); }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

/// The checksum field of `header` must be zero.
std::uint64_t checksum(std::span<const std::byte> header, std::span<const std::byte> values) {
  CHECK(load_number<std::uint64_t>(header, kChecksumOffset) == 0, "a checksum does not count itself");
  RunningChecksum running;
  running.add(header);
  running.add(values);
  return running.value();
}

std::size_t header_size(std::size_t rank) { return kFixedSize + 8 * rank; }

[[noreturn]] void corrupt(const ByteOrigin& context, const std::string& what) {
  throw Error(ErrorKind::Corrupt, context.text() + " is damaged: " + what, std::nullopt,
              "restore the database from a copy, or drop the tensor and make it again");
}

void require(bool holds, const ByteOrigin& context, const char* what) {
  if (!holds) corrupt(context, what);
}

// The message is made where it is needed: tiles of few bytes are read by the thousand.
template <std::invocable What>
void require(bool holds, const ByteOrigin& context, const What& what) {
  if (!holds) corrupt(context, what());
}

struct FixedFields {
  StoredType type;  ///< of the stored values
  CellLayout layout;
};

CellLayout verify_layout(std::span<const std::byte> header, const ByteOrigin& context) {
  const auto format = load_number<std::uint8_t>(header, kFormatOffset);
  const auto uniform = load_number<std::uint8_t>(header, kFormatOffset + 1);
  const auto count = load_number<std::uint32_t>(header, kFormatOffset + 2);
  if (load_number<std::uint16_t>(header, 4) == kDenseVersion) {
    require(format == 0 && uniform == 0 && count == 0, context, "reserved bytes are not zero");
    return {};
  }
  require(format > 0 && format <= static_cast<std::uint8_t>(kLastTileFormat), context, "it has an unknown format");
  require(uniform <= 1, context, "reserved bytes are not zero");
  return {.format = TileFormat{format}, .is_uniform = uniform == 1, .count = count};
}

FixedFields verify_fixed_fields(std::span<const std::byte> header, DType type, std::size_t rank,
                                const ByteOrigin& context) {
  require(std::memcmp(header.data(), kTileMagic.data(), kTileMagic.size()) == 0, context,
          "it does not begin as a tile");
  const auto version = load_number<std::uint16_t>(header, 4);
  require(version == kDenseVersion || version == kSparseVersion, context,
          [&] { return "its format version is " + std::to_string(version) + ", known are 1 and 2"; });
  const auto stored_type = dtype_from_code(load_number<std::uint8_t>(header, 6));
  require(stored_type.has_value(), context, "it has an unknown element type");
  const auto encoding = encoding_from_code(load_number<std::uint8_t>(header, 7));
  require(encoding.has_value(), context, "its values are in an unknown encoding");
  const StoredType stored{*stored_type, *encoding};
  require(*encoding == Encoding::Plain || with_encoding(*encoding) == stored, context,
          "its values are not of the type that their encoding has");
  require(decodes_to(stored, type), context,
          [&] { return "it holds " + std::string(name_of(stored)) + ", the tensor " + std::string(name_of(type)); });
  const auto stored_rank = load_number<std::uint16_t>(header, 8);
  require(stored_rank == rank, context,
          [&] { return "it has " + std::to_string(stored_rank) + " dimensions, the tensor " + std::to_string(rank); });
  return {stored, verify_layout(header, context)};
}

void verify_extents(std::span<const std::byte> header, const Shape& shape, const ByteOrigin& context) {
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    const auto extent = load_number<std::int64_t>(header, header_size(d));
    require(extent == shape[d], context, [&] {
      return "dimension " + std::to_string(d) + " has extent " + std::to_string(extent) + ", expected " +
             std::to_string(shape[d]);
    });
  }
}

std::size_t values_size(StoredType type, const Shape& shape) {
  return static_cast<std::size_t>(encoded_bytes(type, shape.element_count()));
}

/// `place` is that of the value in `values`, `cell` that of the cell in the tile.
[[noreturn]] void refuse_value(StoredType type, std::span<const std::byte> values, std::int64_t place,
                               std::int64_t cell, const CellNamer& name) {
  std::string value;
  if (type.values == DType::Int64)
    value = std::to_string(load_number<std::int64_t>(values, static_cast<std::size_t>(place) * sizeof(std::int64_t)));
  const auto named = name ? name(cell) : "a cell";
  if (type.encoding == Encoding::Bool)
    throw Error(ErrorKind::Value, named + " would be " + value + ", and BOOL holds 0 and 1", std::nullopt,
                "a condition gives those: x <> 0");
  if (type.values == DType::Int64)
    throw Error(ErrorKind::Value,
                named + " would be " + value + ", which " + std::string(name_of(type)) + " does not hold", std::nullopt,
                "a wider type holds it, or LEAST(GREATEST(x, lowest), highest) bounds it");
  throw Error(ErrorKind::Value,
              named + " is in a block with an infinity, a NaN or too large a value, which " +
                  std::string(name_of(type)) + " cannot scale",
              std::nullopt, "BFLOAT16 holds such values");
}

/// The most bytes behind the header that another format than the dense one may take: with the header, a quarter. Of
/// more cells, to gather and to expand them takes longer than the bytes that are spared.
std::size_t most_sparse(std::size_t header, std::size_t dense) {
  const auto most = (header + dense) / 4;
  return most < header ? 0 : most - header;
}

std::vector<std::byte> encoded_list(StoredType type, std::span<const std::byte> values,
                                    std::span<const std::uint32_t> numbers, const CellNamer& name) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  // The cells of a BOOL tile are read as one byte each here.
  const auto stored = type.encoding == Encoding::Bool ? StoredType(DType::Int64, Encoding::UInt8) : type;
  std::vector<std::byte> out(static_cast<std::size_t>(encoded_bytes(stored, count)));
  std::optional<std::int64_t> fault = encode_cells(stored, values, count, out);
  if (!fault && stored != type) {
    const auto found = std::find_if(out.begin(), out.end(), [](std::byte value) { return value > std::byte{1}; });
    if (found != out.end()) fault = found - out.begin();
  }
  if (fault) refuse_value(type, values, *fault, std::int64_t{numbers[static_cast<std::size_t>(*fault)]}, name);
  return out;
}

/// The header must be that of the bytes behind it.
void verify_checksum(std::span<std::byte> header, std::span<const std::byte> rest, const ByteOrigin& context) {
  const auto told = load_number<std::uint64_t>(header, kChecksumOffset);
  store_number(header, kChecksumOffset, std::uint64_t{0});
  require(told == checksum(header, rest), context, "its checksum does not match its values");
}

Tile tile_for(StoredType stored, DType type, const Shape& shape) {
  auto tile = stored.encoding != Encoding::Plain ? Tile::encoded(type, stored.encoding, shape)
                                                 : Tile::uninitialized(type, shape);
  CHECK(tile.byte_size() == values_size(stored, shape), "a tile has the bytes that its type and shape take");
  return tile;
}

Tile load_dense(const ByteSource& source, std::span<std::byte> header, StoredType stored, DType type,
                const Shape& shape, const ByteOrigin& context) {
  auto tile = tile_for(stored, type, shape);
  source.read(header.size(), tile.mutable_bytes());
  verify_checksum(header, tile.bytes(), context);
  return tile;
}

std::vector<std::byte> sparse_bytes(const ByteSource& source, std::span<std::byte> header, const FixedFields& fields,
                                    const Shape& shape, const ByteOrigin& context) {
  const auto size = source.size() - header.size();
  const auto cells = shape.element_count();
  require(may_have_layout(fields.type, fields.layout, cells, size), context, [&] {
    return "its format cannot have " + std::to_string(fields.layout.count) + " of " + std::to_string(cells) +
           " cells in " + std::to_string(source.size()) + " bytes";
  });
  std::vector<std::byte> bytes(size);
  source.read(header.size(), bytes);
  verify_checksum(header, bytes, context);
  return bytes;
}

constexpr const char* kNotOfItsFormat = "its cells are not those of its format";

Tile load_sparse(const ByteSource& source, std::span<std::byte> header, const FixedFields& fields, DType type,
                 const Shape& shape, const ByteOrigin& context) {
  const auto bytes = sparse_bytes(source, header, fields, shape, context);
  auto tile = tile_for(fields.type, type, shape);
  require(expand(fields.type, fields.layout, bytes, shape.element_count(), tile.mutable_bytes()), context,
          kNotOfItsFormat);
  return tile;
}

/// Values of `type` for cells that are stored, and may have one for all.
CellList decoded_cells(StoredType stored, StoredCells cells, DType type) {
  const auto count = cells.numbers.size();
  // One byte each is how the cells of a BOOL tile are kept apart.
  const auto unit = stored.encoding == Encoding::Bool ? with_encoding(Encoding::UInt8) : stored;
  const auto kept = static_cast<std::int64_t>(cells.is_uniform ? std::min<std::size_t>(count, 1) : count);
  CellList out{.numbers = std::move(cells.numbers), .values = {}};
  const auto size = size_of(type);
  out.values.resize(count * size);
  if (unit.encoding == Encoding::Plain) {
    CHECK(unit.values == type, "plain values are those of their type");
    if (kept > 0) std::memcpy(out.values.data(), cells.values.data(), static_cast<std::size_t>(kept) * size);
  } else {
    decode_cells(unit, cells.values, kept, type, std::span(out.values).first(static_cast<std::size_t>(kept) * size));
  }
  if (cells.is_uniform)
    for (std::size_t n = 1; n < count; ++n) std::memcpy(out.values.data() + n * size, out.values.data(), size);
  return out;
}

/// The header of a tile, verified but for its checksum.
struct VerifiedHeader {
  std::array<std::byte, kFixedSize + 8 * kMaxStoredRank> buffer{};
  std::size_t size = 0;
  FixedFields fields;

  std::span<std::byte> bytes() { return std::span(buffer).first(size); }
  bool is_dense() const { return fields.layout.format == TileFormat::Dense; }
};

VerifiedHeader verified_header(const ByteSource& source, DType type, const Shape& shape, const ByteOrigin& context) {
  CHECK(shape.rank() <= kMaxStoredRank, "no tensor of more dimensions was stored");
  VerifiedHeader out;
  out.size = header_size(shape.rank());
  require(source.size() >= kFixedSize, context, [&] { return "it has " + std::to_string(source.size()) + " bytes"; });
  source.read(0, out.bytes().first(kFixedSize));
  out.fields = verify_fixed_fields(out.bytes(), type, shape.rank(), context);
  const auto values = values_size(out.fields.type, shape);
  require(
      out.is_dense() ? source.size() == out.size + values : source.size() > out.size && values <= kMaxStoredTileBytes,
      context, [&] {
        return "it has " + std::to_string(source.size()) + " bytes, expected " + std::to_string(out.size + values);
      });
  source.read(kFixedSize, out.bytes().subspan(kFixedSize));
  verify_extents(out.bytes(), shape, context);
  return out;
}

}  // namespace

void MemorySource::read(std::size_t offset, std::span<std::byte> target) const {
  CHECK(offset <= bytes_.size() && target.size() <= bytes_.size() - offset, "a read stays within its source");
  if (!target.empty()) std::memcpy(target.data(), bytes_.data() + offset, target.size());
}

EncodedTile::EncodedTile(StoredType type, const Shape& shape) : type_(type), header_size_(header_size(shape.rank())) {
  if (shape.rank() > kMaxStoredRank) {
    throw Error(ErrorKind::Unsupported, "a tensor of " + std::to_string(shape.rank()) + " dimensions cannot be stored",
                std::nullopt, "at most " + std::to_string(kMaxStoredRank) + " dimensions can");
  }
  CHECK(header_size_ <= header_.size(), "a header has room for all extents");
}

EncodedTile::EncodedTile(const Tile& tile, Encoding encoding, const CellNamer& name, FormatChoice choice)
    : EncodedTile(encoding == Encoding::Plain ? StoredType(tile.dtype()) : with_encoding(encoding), tile.shape()) {
  if (tile.is_of_cells()) {
    encode_cells_of(tile.cells(), name, choice);
    return;
  }
  values_ = tile.bytes();
  if (tile.encoding() != encoding) {
    CHECK(!tile.is_encoded() && tile.dtype() == type_.values, "a tile has the values that its encoding encodes");
    buffer_.resize(values_size(type_, tile.shape()));
    if (const auto fault = encode_cells(type_, tile.bytes(), tile.shape().element_count(), buffer_))
      refuse_value(type_, tile.bytes(), *fault, *fault, name);
    values_ = buffer_;
  }
  choose_format(tile.shape(), choice);
  fill_header(tile.shape());
}

EncodedTile::EncodedTile(StoredType type, const Shape& shape, CellList list, const CellNamer& name, FormatChoice choice)
    : EncodedTile(type, shape) {
  encode_list(std::move(list), shape, name, choice);
}

// Encodings with scales are of dense tiles alone, and so are the large ones that no list can number.
void EncodedTile::encode_cells_of(const CellBlock& cells, const CellNamer& name, FormatChoice choice) {
  const auto& shape = cells.shape();
  if (values_size(type_, shape) > kMaxStoredTileBytes)
    throw Error(ErrorKind::Unsupported,
                "a tile has " + std::to_string(values_size(type_, shape)) + " bytes with its zeros; a stored one has " +
                    "less than 1 GB",
                std::nullopt, "cut the tensor into more parts: PARTITION (...)");
  CHECK(cells.dtype() == type_.values, "a tile has the values that its encoding encodes");
  if (may_be_sparse(type_, shape.element_count())) return encode_list(list_of(cells), shape, name, choice);
  auto values = Tile::zeros(cells.dtype(), shape);
  cells.expand(values.mutable_bytes());
  buffer_.resize(values_size(type_, shape));
  if (type_.encoding == Encoding::Plain) std::copy(values.bytes().begin(), values.bytes().end(), buffer_.begin());
  else if (const auto fault = encode_cells(type_, values.bytes(), shape.element_count(), buffer_))
    refuse_value(type_, values.bytes(), *fault, *fault, name);
  values_ = buffer_;
  fill_header(shape);
}

void EncodedTile::encode_list(CellList list, const Shape& shape, const CellNamer& name, FormatChoice choice) {
  const auto type = type_;
  CHECK(may_be_sparse(type, shape.element_count()), "a list of cells is of a tile that may be sparse");
  CHECK(list.values.size() == list.numbers.size() * size_of(type.values), "each cell of a list has a value");
  StoredCells cells{.numbers = std::move(list.numbers), .values = std::move(list.values)};
  if (type.encoding != Encoding::Plain) cells.values = encoded_list(type, cells.values, cells.numbers, name);
  normalize(type, cells);
  if (!take_layout(cells, shape, choice)) {
    buffer_.resize(values_size(type, shape));
    expand(type, cells, buffer_);
    values_ = buffer_;
  }
  fill_header(shape);
}

// The values are those of a dense tile before.
void EncodedTile::choose_format(const Shape& shape, FormatChoice choice) {
  const auto cells = shape.element_count();
  if (choice == FormatChoice::Dense || !may_be_sparse(type_, cells)) return;
  const auto most = choice == FormatChoice::Sparse ? std::size_t{INT64_MAX} : most_sparse(header_size_, values_.size());
  if (const auto found = stored_cells(type_, values_, cells, most)) take_layout(*found, shape, choice);
}

// False if the tile is better dense.
bool EncodedTile::take_layout(const StoredCells& cells, const Shape& shape, FormatChoice choice) {
  const auto all = shape.element_count();
  const auto dense = values_size(type_, shape);
  if (choice == FormatChoice::Dense || dense > kMaxStoredTileBytes) return false;
  const auto smallest = smallest_layout(cells, all);
  if (choice == FormatChoice::Auto && smallest.bytes > most_sparse(header_size_, dense)) return false;
  layout_ = smallest.layout;
  buffer_ = lay_out(cells, all, smallest);
  values_ = buffer_;
  return true;
}

void EncodedTile::fill_header(const Shape& shape) {
  const std::span<std::byte> out(header_.data(), header_size_);
  const bool dense = layout_.format == TileFormat::Dense;
  std::memcpy(out.data(), kTileMagic.data(), kTileMagic.size());
  store_number(out, 4, dense ? kDenseVersion : kSparseVersion);
  store_number(out, 6, static_cast<std::uint8_t>(type_.values));
  store_number(out, 7, static_cast<std::uint8_t>(type_.encoding));
  store_number(out, 8, static_cast<std::uint16_t>(shape.rank()));
  store_number(out, kFormatOffset, static_cast<std::uint8_t>(layout_.format));
  store_number(out, kFormatOffset + 1, static_cast<std::uint8_t>(layout_.is_uniform ? 1 : 0));
  store_number(out, kFormatOffset + 2, layout_.count);
  for (std::size_t d = 0; d < shape.rank(); ++d) store_number(out, header_size(d), shape[d]);
  store_number(out, kChecksumOffset, eindb::checksum(out, values_));
}

std::span<const std::byte> EncodedTile::values(std::int64_t begin, std::int64_t end) const {
  const auto [cells, bytes] = unit_of(type_);
  CHECK(0 <= begin && begin <= end, "cells lie in their tile");
  if (format() != TileFormat::Dense) return values_;
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

bool is_intact(const ByteSource& source) {
  constexpr std::size_t kPiece = std::size_t{1} << 18U;
  if (source.size() < kFixedSize) return false;
  std::vector<std::byte> piece(std::min(source.size(), kPiece));
  const auto stated = encoded_checksum(source);
  RunningChecksum running;
  for (std::size_t at = 0; at < source.size(); at += piece.size()) {
    piece.resize(std::min(source.size() - at, kPiece));
    source.read(at, piece);
    if (at == 0) store_number(std::span(piece), kChecksumOffset, std::uint64_t{0});
    running.add(piece);
  }
  return running.value() == stated;
}

std::optional<TileLabel> tile_label(const ByteSource& source) {
  std::array<std::byte, kFixedSize> header{};
  if (source.size() < kFixedSize) return std::nullopt;
  source.read(0, header);
  const auto format = load_number<std::uint8_t>(header, kFormatOffset);
  if (std::memcmp(header.data(), kTileMagic.data(), kTileMagic.size()) != 0) return std::nullopt;
  if (format > static_cast<std::uint8_t>(kLastTileFormat)) return std::nullopt;
  return TileLabel{TileFormat{format}, load_number<std::uint32_t>(header, kFormatOffset + 2)};
}

std::vector<std::byte> encode_tile(const Tile& tile, Encoding encoding, FormatChoice choice) {
  const EncodedTile encoded(tile, encoding, {}, choice);
  std::vector<std::byte> out;
  out.reserve(encoded.size());
  out.insert(out.end(), encoded.header().begin(), encoded.header().end());
  out.insert(out.end(), encoded.values().begin(), encoded.values().end());
  return out;
}

Tile load_tile(const ByteSource& source, DType type, const Shape& shape, const ByteOrigin& context) {
  auto header = verified_header(source, type, shape, context);
  return header.is_dense() ? load_dense(source, header.bytes(), header.fields.type, type, shape, context)
                           : load_sparse(source, header.bytes(), header.fields, type, shape, context);
}

CellList load_cells(const ByteSource& source, DType type, const Shape& shape, const ByteOrigin& context) {
  auto header = verified_header(source, type, shape, context);
  if (header.is_dense()) return cells_of(load_dense(source, header.bytes(), header.fields.type, type, shape, context));
  const auto bytes = sparse_bytes(source, header.bytes(), header.fields, shape, context);
  auto cells = unpack(header.fields.type, header.fields.layout, bytes, shape.element_count());
  require(cells.has_value(), context, kNotOfItsFormat);
  return decoded_cells(header.fields.type, *std::move(cells), type);
}

CellList cells_of(const Tile& tile) {
  if (tile.is_encoded()) return cells_of(decoded(tile));
  const auto cells = tile.shape().element_count();
  if (cells == 0) return {};
  const StoredType type(tile.dtype());
  if (!may_be_sparse(type, cells)) {
    throw Error(ErrorKind::Unsupported, "a tile of " + std::to_string(cells) + " cells is too large for a list of them",
                std::nullopt, "store the tensor in smaller tiles");
  }
  auto stored = stored_cells(type, tile.bytes(), cells, std::size_t{INT64_MAX});
  CHECK(stored.has_value(), "all cells of a tile are taken");
  return decoded_cells(type, *std::move(stored), tile.dtype());
}

// Tiles that are stored have fewer cells than 32 bits can number.
CellList list_of(const CellBlock& cells) {
  const auto numbers = cells.numbers();
  const auto& values = cells.trie().values;
  CellList list{.numbers = {}, .values = {values.begin(), values.end()}};
  list.numbers.reserve(numbers.size());
  for (const auto number : numbers) {
    CHECK(number <= std::int64_t{UINT32_MAX}, "a cell of a stored tile has a number of 32 bits");
    list.numbers.push_back(static_cast<std::uint32_t>(number));
  }
  return list;
}

Tile decode_tile(const ByteSource& source, DType type, const Shape& shape, const ByteOrigin& context) {
  auto tile = load_tile(source, type, shape, context);
  return tile.is_encoded() ? decoded(tile) : std::move(tile);
}

Tile load_tile(const ByteSource& source, DType type, const Shape& shape, const ByteOrigin& context, TileForm form) {
  switch (form) {
    case TileForm::Stored: return load_tile(source, type, shape, context);
    case TileForm::Values: return decode_tile(source, type, shape, context);
    case TileForm::Cells: break;
  }
  auto cells = load_cells(source, type, shape, context);
  const std::vector<std::int64_t> numbers(cells.numbers.begin(), cells.numbers.end());
  return Tile::of_cells(
      std::make_shared<const CellBlock>(CellBlock::of_numbers(type, shape, numbers, std::move(cells.values))));
}

}  // namespace eindb
