#pragma once

#include <cstdint>
#include <span>

namespace eindb {

/// Row-major values of a matrix.
template <class T>
struct MatrixValues {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::span<const T> values;
};

}  // namespace eindb
