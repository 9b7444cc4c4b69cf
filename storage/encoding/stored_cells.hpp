#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tensor/stored_type.hpp"
#include "tensor/tile_format.hpp"

namespace eindb {

/// The cells of a tile that are not zero: their numbers in it, row-major and ascending, and their values one after the
/// other, encoded. Zero is what has no bit set, so that minus zero and every NaN are cells as others are. A value takes
/// the bytes of its encoding; that of BOOL takes one.
struct StoredCells {
  std::vector<std::uint32_t> numbers;
  std::vector<std::byte> values;
  bool is_uniform = false;  ///< `values` is the one value that all cells have
};

/// How a tile is stored: in which format, how many cells, and whether they have one value.
struct CellLayout {
  TileFormat format = TileFormat::Dense;
  bool is_uniform = false;
  std::uint32_t count = 0;
};

/// Bytes of a value in a layout.
std::size_t stored_value_bytes(StoredType type);
/// Whether a tile of that many cells may have another format than Dense: not if its encoding has scales, nor from 2^32
/// cells on.
bool may_be_sparse(StoredType type, std::int64_t cells);

/// The cells of `dense`, an encoded tile that may be sparse. nullopt if every format is seen to take more than `most`
/// bytes, which a few cells of dense values tell.
std::optional<StoredCells> stored_cells(StoredType type, std::span<const std::byte> dense, std::int64_t cells,
                                        std::size_t most);
/// Makes any list of cells with a value each one of StoredCells: zeros are left out, and one value is stored once.
void normalize(StoredType type, StoredCells& cells);

/// The layout other than Dense that takes the fewest bytes in a tile of `all` cells, and these.
struct SizedLayout {
  CellLayout layout;
  std::size_t bytes = 0;
};
SizedLayout smallest_layout(const StoredCells& cells, std::int64_t all);
/// The bytes behind the header of a tile: the values, then the packed numbers or the bitmap.
std::vector<std::byte> lay_out(const StoredCells& cells, std::int64_t all, const SizedLayout& sized);

/// The values of a tile with these cells, encoded_bytes(type, all) of them, into `dense`, which may hold anything.
void expand(StoredType type, const StoredCells& cells, std::span<std::byte> dense);
/// The same from the bytes behind a header. False if they are not of the layout; `dense` then has no meaning.
[[nodiscard]] bool expand(StoredType type, const CellLayout& layout, std::span<const std::byte> bytes, std::int64_t all,
                          std::span<std::byte> dense);
/// The cells of such bytes, of another layout than a dense one; nullopt if they are not of the layout. Those of a
/// constant tile are all of its cells, unless they are zero.
std::optional<StoredCells> unpack(StoredType type, const CellLayout& layout, std::span<const std::byte> bytes,
                                  std::int64_t all);
/// Whether a tile of `all` cells may have the layout, in that many bytes; cells alone tell whether it has.
bool may_have_layout(StoredType type, const CellLayout& layout, std::int64_t all, std::size_t bytes);

}  // namespace eindb
