#pragma once

#include <cstdint>
#include <span>

#include "executor/kernels/level_table.hpp"

namespace eindb {

/// A strided block of elements in memory, without its extents: `data` points to the first element; one stride in
/// elements per dimension.
struct StridedTarget {
  DType dtype;
  void* data;
  std::span<const std::int64_t> strides;
};
struct StridedSource {
  DType dtype;
  const void* data;
  std::span<const std::int64_t> strides;
};

/// target[i...] = source[i...] for all i below `extents`. Covers packing, transposing, broadcasting (stride 0 in the
/// source) and slicing, with conversion if the types differ (complex to real takes the real part). The blocks must not
/// overlap, and the target's elements must be distinct. Vectorised along the contiguous dimension of each side.
/// Thread-safe.
void copy_strided(const LevelTable& level, const StridedTarget& target, const StridedSource& source,
                  std::span<const std::int64_t> extents);
/// Uses the level of this machine.
void copy_strided(const StridedTarget& target, const StridedSource& source, std::span<const std::int64_t> extents);

}  // namespace eindb
