#include "tensor/dense_tensor.hpp"

#include <cstring>

#include "common/check.hpp"

namespace eindb {
namespace {

std::int64_t offset_of(const std::vector<std::int64_t>& index, const std::vector<std::int64_t>& strides) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * strides[d];
  return offset;
}

}  // namespace

void copy_block(std::byte* target, const std::vector<std::int64_t>& target_strides, const std::byte* source,
                const std::vector<std::int64_t>& source_strides, const std::vector<std::int64_t>& extents,
                std::size_t size) {
  for (const auto extent : extents)
    if (extent == 0) return;
  std::size_t outer = extents.size();
  std::size_t run = 1;
  // Innermost dimensions that are contiguous on both sides form one run.
  while (outer > 0 && source_strides[outer - 1] == static_cast<std::int64_t>(run) &&
         target_strides[outer - 1] == static_cast<std::int64_t>(run)) {
    run *= static_cast<std::size_t>(extents[outer - 1]);
    --outer;
  }
  const std::vector<std::int64_t> counts(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(outer));
  std::vector<std::int64_t> index(outer, 0);
  const auto bytes = static_cast<std::int64_t>(size);
  do {
    std::memcpy(target + offset_of(index, target_strides) * bytes, source + offset_of(index, source_strides) * bytes,
                run * size);
  } while (next_index(index, counts));
}

std::vector<TilePtr> split(const DenseTensor& tensor, const TileGrid& grid) {
  CHECK(tensor.shape() == grid.shape(), "a tensor is cut by a grid of its own shape");
  const auto strides = tensor.shape().row_major_strides();
  std::vector<TilePtr> tiles;
  for (std::int64_t id = 0; id < grid.tile_count(); ++id) {
    const auto key = grid.key_of(id);
    auto tile = Tile::uninitialized(tensor.dtype(), grid.tile_shape(key));
    const auto begin = offset_of(grid.tile_begin(key), strides) * static_cast<std::int64_t>(size_of(tensor.dtype()));
    copy_block(tile.mutable_bytes().data(), tile.shape().row_major_strides(), tensor.bytes().data() + begin, strides,
               tile.shape().extents(), size_of(tensor.dtype()));
    tiles.push_back(std::make_shared<const Tile>(std::move(tile)));
  }
  return tiles;
}

DenseTensor assemble(const std::vector<TilePtr>& tiles, const TileGrid& grid, DType type) {
  auto tensor = Tile::zeros(type, grid.shape());
  const auto strides = grid.shape().row_major_strides();
  for (std::int64_t id = 0; id < grid.tile_count(); ++id) {
    const auto& tile = tiles[static_cast<std::size_t>(id)];
    if (tile == nullptr) continue;
    const auto begin = offset_of(grid.tile_begin(grid.key_of(id)), strides) * static_cast<std::int64_t>(size_of(type));
    copy_block(tensor.mutable_bytes().data() + begin, strides, tile->bytes().data(), tile->shape().row_major_strides(),
               tile->shape().extents(), size_of(type));
  }
  return tensor;
}

}  // namespace eindb
