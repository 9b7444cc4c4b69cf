#include "shell/tensor_element.hpp"

namespace eindb {

Cell tensor_element(const TensorRelation& tensor, const std::vector<std::int64_t>& index) {
  const auto& grid = tensor.grid;
  TileKey key(index.size());
  for (std::size_t d = 0; d < index.size(); ++d) key[d] = grid.part_at(d, index[d]);
  const auto tile = tensor.tile(grid.id_of(key));
  const auto begin = grid.tile_begin(key);
  const auto strides = grid.tile_shape(key).row_major_strides();
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < index.size(); ++d) offset += (index[d] - begin[d]) * strides[d];
  return dispatch(tensor.dtype, [&]<class T>(std::type_identity<T>) -> Cell {
    return tile ? tile->template data<T>()[offset] : T{};
  });
}

}  // namespace eindb
