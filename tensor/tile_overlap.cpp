#include "tensor/tile_overlap.hpp"

#include <algorithm>
#include <array>

#include "common/check.hpp"
#include "tensor/dense_tensor.hpp"

namespace eindb {
namespace {

std::size_t bytes_of(const Shape& shape, DType type) {
  return static_cast<std::size_t>(shape.element_count()) * size_of(type);
}

}  // namespace

TileOverlap::TileOverlap(const TileGrid& source, const TileKey& source_key, const TileGrid& target,
                         const TileKey& target_key)
    : TileOverlap(source, source_key, target, target_key, 0, 0) {}

TileOverlap::TileOverlap(const TileGrid& source, const TileKey& source_key, const TileGrid& target,
                         const TileKey& target_key, std::size_t along, std::int64_t offset)
    : source_(source.tile_shape(source_key)), target_(target.tile_shape(target_key)) {
  const auto source_strides = source_.row_major_strides();
  const auto target_strides = target_.row_major_strides();
  std::vector<std::int64_t> extents(source.rank());
  for (std::size_t d = 0; d < extents.size(); ++d) {
    auto from = source.range(d, source_key[d]);
    if (d == along) from.begin += offset;
    const auto to = target.range(d, target_key[d]);
    const auto begin = std::max(from.begin, to.begin);
    extents[d] = std::min(from.end(), to.end()) - begin;
    CHECK(extents[d] > 0, "a piece is of tiles that overlap");
    begin_in_source_ += (begin - from.begin) * source_strides[d];
    begin_in_target_ += (begin - to.begin) * target_strides[d];
  }
  shape_ = Shape(std::move(extents));
}

// The last dimension not fully covered by the box may be cut; those before it must have one index.
std::span<const std::byte> TileOverlap::in_place(const Tile& source) const {
  auto d = shape_.rank();
  while (d > 0 && shape_[d - 1] == source_[d - 1]) --d;
  while (d > 1)
    if (shape_[--d - 1] != 1) return {};
  const auto begin = static_cast<std::size_t>(begin_in_source_) * size_of(source.dtype());
  return source.bytes().subspan(begin, bytes_of(shape_, source.dtype()));
}

void TileOverlap::pack(const Tile& source, std::span<std::byte> piece) const {
  const auto size = size_of(source.dtype());
  DCHECK(source.shape() == source_ && piece.size() == bytes_of(shape_, source.dtype()), "a piece has its box's size");
  copy_block(piece.data(), shape_.row_major_strides(),
             source.bytes().data() + static_cast<std::size_t>(begin_in_source_) * size, source_.row_major_strides(),
             shape_.extents(), size);
}

void TileOverlap::unpack(std::span<const std::byte> piece, Tile& target) const {
  const auto size = size_of(target.dtype());
  DCHECK(target.shape() == target_ && piece.size() == bytes_of(shape_, target.dtype()), "a piece has its box's size");
  copy_block(target.mutable_bytes().data() + static_cast<std::size_t>(begin_in_target_) * size,
             target_.row_major_strides(), piece.data(), shape_.row_major_strides(), shape_.extents(), size);
}

void TileOverlap::copy(const Tile& source, Tile& target) const {
  const auto size = size_of(source.dtype());
  DCHECK(source.shape() == source_ && target.shape() == target_, "an overlap is of two tiles");
  copy_block(target.mutable_bytes().data() + static_cast<std::size_t>(begin_in_target_) * size,
             target_.row_major_strides(), source.bytes().data() + static_cast<std::size_t>(begin_in_source_) * size,
             source_.row_major_strides(), shape_.extents(), size);
}

void TileOverlap::clear(Tile& target) const {
  constexpr std::array<std::byte, 16> kZero{};  // valid for any type
  const auto size = size_of(target.dtype());
  copy_block(target.mutable_bytes().data() + static_cast<std::size_t>(begin_in_target_) * size,
             target_.row_major_strides(), kZero.data(), std::vector<std::int64_t>(shape_.rank(), 0), shape_.extents(),
             size);
}

}  // namespace eindb
