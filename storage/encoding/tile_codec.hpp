#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/encoding/byte_origin.hpp"
#include "storage/encoding/stored_cells.hpp"
#include "tensor/cell_block.hpp"
#include "tensor/stored_type.hpp"
#include "tensor/tile.hpp"
#include "tensor/tile_format.hpp"

namespace eindb {

/// The most dimensions of a stored tensor.
inline constexpr std::size_t kMaxStoredRank = 64;
/// The most bytes of a tile's values, if it is dense: SQLite's limit for a row, minus room for the other columns and
/// the record's header.
inline constexpr std::size_t kMaxStoredTileBytes = 1'000'000'000 - 16 * (kMaxStoredRank + 4);

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

/// Names the cell with a row-major number in a tile, for messages: "cell [3, 5] of tensor A".
using CellNamer = std::function<std::string(std::int64_t cell)>;

/// Cells of a tile that is zero everywhere else: their numbers, row-major and ascending, each with a value of the
/// tile's element type.
struct CellList {
  std::vector<std::uint32_t> numbers;
  std::vector<std::byte> values;
};

/// The format and the count of stored cells, as the header of an encoded tile gives them.
struct TileLabel {
  TileFormat format = TileFormat::Dense;
  std::int64_t count = 0;  ///< of stored cells, unless all are
  friend bool operator==(const TileLabel&, const TileLabel&) = default;
};

/// A tile as it is stored: a header, then the values or what stands for them. The format is documented at the head of
/// tile_codec.cpp.
class EncodedTile {
 public:
  /// Encodes the values, whose type is the encoding's, in the format that takes the fewest bytes, and fills in all
  /// fields and the checksum. Takes memory for the encoded values, unless they are plain and dense: then they are the
  /// tile's, which must live as long. Error{Unsupported} beyond kMaxStoredRank, Error{Value} for a value that the
  /// encoding does not hold. A tile that is encoded so already is stored as it is. Of a tile of cells no dense one is
  /// made, unless that is how it is stored; Error{Unsupported} if that had more than kMaxStoredTileBytes.
  explicit EncodedTile(const Tile& tile, Encoding encoding = Encoding::Plain, const CellNamer& name = {},
                       FormatChoice choice = FormatChoice::Auto);
  /// The same of a list of cells, without the dense tile in between. The type must be one that may_be_sparse().
  EncodedTile(StoredType type, const Shape& shape, CellList cells, const CellNamer& name = {},
              FormatChoice choice = FormatChoice::Auto);

  EncodedTile(EncodedTile&&) = default;  // not copied: values() may lie in its buffer

  std::span<const std::byte> header() const { return {header_.data(), header_size_}; }
  std::span<const std::byte> values() const { return values_; }
  /// The part of values() with the cells from `begin` to before `end`, in whole units (unit_of), which may hold other
  /// cells, too; all of it in another format than Dense.
  std::span<const std::byte> values(std::int64_t begin, std::int64_t end) const;
  std::size_t size() const { return header_size_ + values_.size(); }
  std::uint64_t checksum() const;
  TileFormat format() const { return layout_.format; }
  TileLabel label() const { return {layout_.format, layout_.count}; }
  /// Whether the tile is zero, and was seen to be so.
  bool stores_nothing() const { return format() == TileFormat::Constant && layout_.count == 0; }

 private:
  EncodedTile(StoredType type, const Shape& shape);
  void encode_cells_of(const CellBlock& cells, const CellNamer& name, FormatChoice choice);
  void encode_list(CellList list, const Shape& shape, const CellNamer& name, FormatChoice choice);
  void choose_format(const Shape& shape, FormatChoice choice);
  bool take_layout(const StoredCells& cells, const Shape& shape, FormatChoice choice);
  void fill_header(const Shape& shape);

  StoredType type_;
  CellLayout layout_;
  std::array<std::byte, 24 + 8 * kMaxStoredRank> header_{};
  std::size_t header_size_;
  std::vector<std::byte> buffer_;  // unless the values are plain and dense
  std::span<const std::byte> values_;
};

/// The label of a tile, unverified; nullopt if the bytes are not those of a tile. Reads the first ones alone.
std::optional<TileLabel> tile_label(const ByteSource& source);

/// Header and values in one buffer.
std::vector<std::byte> encode_tile(const Tile& tile, Encoding encoding = Encoding::Plain,
                                   FormatChoice choice = FormatChoice::Auto);

/// The checksum in the header of an encoded tile; 0 if the bytes are too short.
std::uint64_t encoded_checksum(const ByteSource& source);

/// Whether the bytes have the checksum that their header states, whatever tile they are of. Reads them in pieces.
bool is_intact(const ByteSource& source);

/// Reads the tile of `shape` in `source`, if it is dense straight into the tile's memory; values of an encoding stay
/// encoded (see Tile::encoding). `type` is that of the values, or another one to which their encoding decodes them
/// (tensor/ cell_encoding.hpp). Every field and the checksum are verified, sizes before memory is allocated.
/// Error{Corrupt} on a mismatch; `context` names the bytes' origin: "tile [0, 3] of tensor A".
Tile load_tile(const ByteSource& source, DType type, const Shape& shape, const ByteOrigin& context);
/// The same of the cells that are not zero alone, with values of `type`, decoded. Makes no dense tile unless that is
/// how they are stored.
CellList load_cells(const ByteSource& source, DType type, const Shape& shape, const ByteOrigin& context);
/// The same of a tile that is there.
CellList cells_of(const Tile& tile);
/// The same of a block of cells that a stored tile may have.
CellList list_of(const CellBlock& cells);
/// Like load_tile(), decoded.
Tile decode_tile(const ByteSource& source, DType type, const Shape& shape, const ByteOrigin& context);

/// The form in which a reader wants a stored tile.
enum class TileForm : std::uint8_t {
  Stored,  ///< load_tile()
  Values,  ///< decode_tile()
  Cells,   ///< a tile of cells, by load_cells(): its shape may have them (CellBlock)
};
Tile load_tile(const ByteSource& source, DType type, const Shape& shape, const ByteOrigin& context, TileForm form);

}  // namespace eindb
