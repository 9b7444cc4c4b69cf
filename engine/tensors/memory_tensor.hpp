#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/cell_block.hpp"
#include "tensor/dtype.hpp"

namespace eindb {

/// A tensor in the memory of the program that runs the engine, for Session::attach. The engine reads it in place; it
/// must stay valid and unchanged while anything may read it.
struct MemoryTensor {
  DType dtype = DType::Float64;
  const void* data = nullptr;  ///< element (0, ..., 0), aligned for its type; may be null if there are no elements
  std::vector<std::int64_t> extents;
  /// In elements, one per dimension: zero repeats an element, a negative stride runs backwards.
  std::vector<std::int64_t> strides;
  std::vector<std::string> labels;  ///< names of the columns in SQL; empty: i, j, k, ...
  /// If not null, the tensor has these cells, and is zero elsewhere: a block of its type and extents. It has neither
  /// data nor strides then. Of lists that are views of the program's memory the values may change between statements.
  CellBlockPtr cells = nullptr;
};

}  // namespace eindb
