#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensor/shape.hpp"
#include "tensor/stored_type.hpp"

namespace eindb {

/// The storage layout of a data set.
struct Hdf5Layout {
  /// Extents of a chunk, at least 1 each; nullopt: contiguous. Chunks larger than 1 MiB are made smaller.
  std::optional<std::vector<std::int64_t>> chunk;
  bool deflate = false;  ///< compresses chunks, with shuffled bytes; requires chunks
};

/// A data set to be made.
struct Hdf5NewDataset {
  std::string name;                  ///< a path from the root group, without empty parts
  StoredType type = DType::Float64;  ///< floats of 8 bits, and what has scales, become FLOAT32
  Shape shape;
  Hdf5Layout layout;
  std::vector<std::string> dimensions = {};  ///< names of them, as netCDF has them; empty: none
};

}  // namespace eindb
