#include "tensor/tile.hpp"

#include <cstring>
#include <memory>
#include <string>

#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "tensor/cell_encoding.hpp"
#include "tensor/tile_memory.hpp"

namespace eindb {
namespace {

std::size_t checked_byte_size(DType type, const Shape& shape, Encoding encoding = Encoding::Plain) {
  const auto stored = encoding == Encoding::Plain ? StoredType(type) : with_encoding(encoding);
  return static_cast<std::size_t>(encoded_bytes(stored, shape.element_count()));
}

}  // namespace

void Tile::Free::operator()(std::byte* p) const noexcept {
  if (!borrowed) TileMemory::instance().give_back(p, mapped);
}

Tile::Tile(DType type, Encoding encoding, Shape shape, bool zeroed)
    : dtype_(type),
      encoding_(encoding),
      shape_(std::move(shape)),
      byte_size_(checked_byte_size(type, shape_, encoding)) {
  const auto block = TileMemory::instance().take(byte_size_);
  if (block.data == nullptr) {
    throw Error(ErrorKind::MemoryLimit, "no memory for a tile of " + std::to_string(byte_size_) + " bytes",
                std::nullopt, "raise parallelism or lower tile_bytes to work on smaller tiles");
  }
  data_ = std::unique_ptr<std::byte[], Free>(block.data, Free{.borrowed = false, .mapped = block.mapped});
  if (zeroed && !block.zero) std::memset(block.data, 0, byte_size_);
}

// Only constant tiles are made this way: see borrow().
Tile::Tile(DType type, Shape shape, const std::byte* values)
    : dtype_(type),
      shape_(std::move(shape)),
      byte_size_(checked_byte_size(type, shape_)),
      data_(const_cast<std::byte*>(values), Free{.borrowed = true, .mapped = 0}) {}

Tile::Tile(CellBlockPtr cells)
    : dtype_(cells->dtype()), shape_(cells->shape()), byte_size_(cells->byte_size()), cells_(std::move(cells)) {}

Tile Tile::of_cells(CellBlockPtr cells) {
  CHECK(cells != nullptr, "a tile of cells has a block of them");
  return Tile(std::move(cells));
}

Tile Tile::zeros(DType type, Shape shape) { return {type, Encoding::Plain, std::move(shape), true}; }
Tile Tile::uninitialized(DType type, Shape shape) { return {type, Encoding::Plain, std::move(shape), false}; }
Tile Tile::encoded(DType type, Encoding encoding, Shape shape) { return {type, encoding, std::move(shape), false}; }
TilePtr Tile::borrow(DType type, Shape shape, const std::byte* values) {
  return std::make_shared<const Tile>(Tile(type, std::move(shape), values));
}

TilePtr Tile::borrow(DType type, Shape shape, const std::byte* values, std::vector<std::int64_t> strides) {
  CHECK(strides.size() == shape.rank(), "memory has a stride for each dimension");
  Tile tile(type, std::move(shape), values);
  if (strides != tile.shape_.row_major_strides()) tile.strides_ = std::move(strides);
  return std::make_shared<const Tile>(std::move(tile));
}
TilePtr Tile::part_of(TilePtr whole, Shape shape, std::span<const std::int64_t> begin) {
  CHECK(whole != nullptr && !whole->is_encoded() && !whole->is_of_cells(), "a part is of a tile of plain values");
  CHECK(shape.rank() == whole->shape().rank() && begin.size() == shape.rank(), "a part has the dimensions of its tile");
  const auto strides = whole->strides();
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < begin.size(); ++d) {
    CHECK(begin[d] >= 0 && begin[d] + shape[d] <= whole->shape()[d], "a part lies in its tile");
    offset += begin[d] * strides[d];
  }
  Tile tile(whole->dtype(), std::move(shape),
            whole->first() + offset * static_cast<std::int64_t>(size_of(whole->dtype())));
  if (strides != tile.shape_.row_major_strides()) tile.strides_ = strides;
  tile.whole_ = std::move(whole);
  return std::make_shared<const Tile>(std::move(tile));
}

Tile Tile::in_whole(std::shared_ptr<Tile> whole, Shape shape, std::int64_t first) {
  CHECK(whole != nullptr && !whole->is_encoded() && !whole->is_of_cells() && !whole->has_strides(),
        "values lie side by side in a tile of plain values");
  CHECK(first >= 0 && shape.element_count() <= whole->shape().element_count() - first, "a part lies in its tile");
  Tile tile(whole->dtype(), std::move(shape),
            whole->first() + first * static_cast<std::int64_t>(size_of(whole->dtype())));
  tile.whole_ = std::move(whole);
  return tile;
}

void decode_into(const Tile& encoded, Tile& target) {
  CHECK(encoded.is_encoded() && !target.is_encoded() && encoded.dtype() == target.dtype() &&
            encoded.shape() == target.shape(),
        "a tile is decoded into one of its type and shape");
  decode_cells(with_encoding(encoded.encoding()), encoded.bytes(), encoded.shape().element_count(), encoded.dtype(),
               target.mutable_bytes());
}

Tile decoded(const Tile& encoded) {
  auto tile = Tile::uninitialized(encoded.dtype(), encoded.shape());
  decode_into(encoded, tile);
  return tile;
}

Tile expanded(const Tile& of_cells) {
  auto tile = Tile::uninitialized(of_cells.dtype(), of_cells.shape());
  of_cells.cells().expand(tile.mutable_bytes());
  return tile;
}

bool Tile::is_all_zero() const {
  if (is_of_cells()) return cells().count() == 0;
  const auto all = bytes();
  return all.empty() || (all.front() == std::byte{0} && std::memcmp(all.data(), all.data() + 1, all.size() - 1) == 0);
}

}  // namespace eindb
