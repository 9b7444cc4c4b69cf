#pragma once

#include <cstdint>
#include <vector>

#include "storage/formats/npy_header.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Reads the block of `extents` at `begin` of a dense array whose values start in `file` at array.data_offset,
/// converted to array.element.dtype(). The block must lie within array.shape, and the file must be long enough for all
/// values. Takes 4 MiB beyond the tile: nearby lines of the block are read together. Error{Value} for an unsigned
/// integer beyond INT64. Thread-safe.
Tile read_dense_block(const InputFile& file, const NpyHeader& array, const std::vector<std::int64_t>& begin,
                      const Shape& extents);

}  // namespace eindb
