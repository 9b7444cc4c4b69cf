#pragma once

#include <optional>
#include <string>

#include "tensor/shape.hpp"
#include "tensor/stored_type.hpp"

namespace eindb {

/// A data set of an HDF5 file.
struct Hdf5Entry {
  std::string name;                ///< a path from the root group, without a leading slash
  std::string file_type;           ///< "float32", "int16", "complex", "string", ...
  std::optional<StoredType> type;  ///< that of a tensor which keeps the elements; nullopt if they cannot be read
  Shape shape;                     ///< [0] of a data set that has none, or is virtual
};

}  // namespace eindb
