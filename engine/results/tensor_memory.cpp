#include "engine/results/tensor_memory.hpp"

#include <array>

#include "common/check.hpp"
#include "common/error.hpp"
#include "executor/kernels/strided_copy.hpp"

namespace eindb {
namespace {

// Read with strides of zero, this is a tile full of zeros.
alignas(16) constexpr std::array<std::byte, 16> kZero{};

}  // namespace

void copy_to_memory(const TensorRelation& tensor, void* target, const std::vector<std::int64_t>& strides) {
  const auto& grid = tensor.grid;
  if (strides.size() != grid.rank()) {
    throw Error(ErrorKind::Value, tensor.name + " has " + std::to_string(grid.rank()) + " dimensions, but " +
                                      std::to_string(strides.size()) + " strides are given");
  }
  if (grid.shape().element_count() == 0) return;
  const std::vector<std::int64_t> no_strides(strides.size(), 0);
  for (std::int64_t id = 0; id < grid.tile_count(); ++id) {
    const auto key = grid.key_of(id);
    const auto begin = grid.tile_begin(key);
    const auto shape = grid.tile_shape(key);
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < begin.size(); ++d) offset += begin[d] * strides[d];
    auto* first = static_cast<std::byte*>(target) + offset * static_cast<std::int64_t>(size_of(tensor.dtype));
    const auto tile = tensor.tile(id);
    CHECK(tile == nullptr || (tile->dtype() == tensor.dtype && tile->shape() == shape),
          "a tile has the type and the shape of its place in the grid");
    const auto tile_strides = tile == nullptr ? no_strides : shape.row_major_strides();
    copy_strided({tensor.dtype, first, strides},
                 {tensor.dtype, tile == nullptr ? kZero.data() : tile->bytes().data(), tile_strides}, shape.extents());
  }
}

TilePtr whole_tile(const TensorRelation& tensor) {
  if (const auto& whole = tensor.tiles->whole()) return whole;
  if (tensor.grid.tile_count() == 1)
    if (auto only = tensor.tile(0)) return only;
  auto whole = Tile::uninitialized(tensor.dtype, tensor.grid.shape());
  copy_to_memory(tensor, whole.mutable_bytes().data(), tensor.grid.shape().row_major_strides());
  return std::make_shared<const Tile>(std::move(whole));
}

}  // namespace eindb
