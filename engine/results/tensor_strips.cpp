#include "engine/results/tensor_strips.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "tensor/tile_gather.hpp"

namespace eindb {
namespace {

// Whether the elements of tile 0, then of tile 1, and so on, are in row-major order. They are if every dimension before
// the one that is cut in ranges is cut in single indices, and none after it is cut.
bool is_in_order(const TileGrid& grid) {
  std::size_t d = 0;
  while (d < grid.rank() && grid.partition()[d] == grid.shape()[d]) ++d;
  return std::all_of(grid.partition().begin() + static_cast<std::ptrdiff_t>(std::min(d + 1, grid.rank())),
                     grid.partition().end(), [](std::int64_t parts) { return parts == 1; });
}

// For 4 x 1000 x 8 FLOAT64 in strips of 16,000 bytes: [4, 4, 1], since 250 x 8 elements take 16,000 bytes.
Partition cut_in_order(const Shape& shape, DType type, std::int64_t bytes) {
  Partition parts(shape.rank(), 1);
  auto inner = static_cast<std::int64_t>(size_of(type));  // bytes of one index of dimension d
  for (std::size_t d = shape.rank(); d-- > 0;) {
    const auto whole = checked_multiply(inner, shape[d]);
    if (whole > bytes) {
      CHECK(inner > 0 && inner <= bytes, "a strip has room for one index at least");
      parts[d] = ceil_divide(shape[d], bytes / inner);
      std::copy_n(shape.extents().begin(), d, parts.begin());
      break;
    }
    inner = whole;
  }
  return parts;
}

TileGrid strips_of(const TensorRelation& tensor) {
  const auto& shape = tensor.grid.shape();
  if (is_in_order(tensor.grid) || shape.element_count() == 0) return tensor.grid;
  return {shape, cut_in_order(shape, tensor.dtype, TensorStrips::kBytes)};
}

}  // namespace

TensorStrips::TensorStrips(std::shared_ptr<const TensorRelation> tensor, const Cancellation* cancellation)
    : tensor_(std::move(tensor)),
      cancellation_(cancellation),
      strips_(strips_of(*tensor_)),
      count_(tensor_->grid.shape().element_count() == 0 ? 0 : strips_.tile_count()) {}

TilePtr TensorStrips::next() {
  if (next_ == count_) return nullptr;
  if (cancellation_ != nullptr) cancellation_->check();
  CHECK(next_ >= 0 && next_ < count_, "strips are given until there is none");
  const auto strip = next_++;
  const auto read = [&](std::int64_t tile_id) { return tensor_->tile(tile_id); };
  if (strips_ == tensor_->grid) {
    if (auto tile = read(strip)) return tile;
  } else {
    std::int64_t tiles_in = 0;
    if (auto tile = gather_tile(tensor_->grid, tensor_->dtype, read, strips_, strip, tiles_in))
      return std::make_shared<const Tile>(*std::move(tile));
  }
  return std::make_shared<const Tile>(Tile::zeros(tensor_->dtype, strips_.tile_shape(strips_.key_of(strip))));
}

}  // namespace eindb
