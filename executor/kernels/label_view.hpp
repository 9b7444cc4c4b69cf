#pragma once

#include <cstdint>
#include <vector>

#include "common/check.hpp"
#include "tensor/label.hpp"
#include "tensor/partition.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// A tile as seen by loops over the labels of an EinSum: one stride, in elements, per label; 0 for a label that the
/// tile lacks, and the sum of the strides for a label that occurs several times (a diagonal).
struct LabelView {
  DType dtype = DType::Float64;
  const void* data = nullptr;
  std::vector<std::int64_t> strides;
  Encoding encoding = Encoding::Plain;  ///< others only for kernels that say that they read them
};
struct MutableLabelView {
  DType dtype = DType::Float64;
  void* data = nullptr;
  std::vector<std::int64_t> strides;
};

inline std::vector<std::int64_t> label_strides(const Labels& all, const Labels& of_tile,
                                               const std::vector<std::int64_t>& of_dimensions) {
  CHECK(of_tile.size() == of_dimensions.size(), "a tile has a label per dimension");
  std::vector<std::int64_t> strides(all.size(), 0);
  for (std::size_t n = 0; n < all.size(); ++n)
    for (std::size_t d = 0; d < of_tile.size(); ++d)
      if (of_tile[d] == all[n]) strides[n] += of_dimensions[d];
  return strides;
}
inline std::vector<std::int64_t> label_strides(const Labels& all, const Labels& of_tile, const Shape& shape) {
  return label_strides(all, of_tile, shape.row_major_strides());
}

inline LabelView view_of(const Labels& all, const Labels& of_tile, const Tile& tile) {
  return {tile.dtype(), tile.first(), label_strides(all, of_tile, tile.strides()), tile.encoding()};
}
inline MutableLabelView view_of(const Labels& all, const Labels& of_tile, Tile& tile) {
  return {tile.dtype(), tile.mutable_bytes().data(), label_strides(all, of_tile, tile.shape())};
}

}  // namespace eindb
