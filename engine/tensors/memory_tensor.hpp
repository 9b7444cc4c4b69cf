#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/dtype.hpp"

namespace eindb {

/// A tensor in the memory of the program that runs the engine, for Session::attach. The engine reads it where it lies;
/// it must stay there, unchanged, while anything may read it.
struct MemoryTensor {
  DType dtype = DType::Float64;
  const void* data = nullptr;  ///< element (0, ..., 0), aligned as its type; may be null if there are no elements
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;  ///< in elements, one per dimension: zero repeats, a negative one runs backwards
  std::vector<std::string> labels;    ///< of the columns in SQL; empty: i, j, k, ...
};

}  // namespace eindb
