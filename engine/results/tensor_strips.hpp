#pragma once

#include <cstdint>
#include <memory>

#include "common/cancellation.hpp"
#include "engine/results/result.hpp"

namespace eindb {

/// Reads the elements of a tensor in row-major order, however it is cut, as a sequence of contiguous strips. A 4 x 4
/// tensor in tiles a, b, c, d of 2 x 2, and its strips of one row each:
///
///     a b      aabb | aabb | ccdd | ccdd
///     c d
///
/// Tiles that are already in this order serve as strips without a copy. Uses kBytes beside the tensor. Not thread-safe.
class TensorStrips {
 public:
  /// The maximum size of a strip that is assembled.
  static constexpr std::int64_t kBytes = std::int64_t{1} << 20U;

  /// `cancellation`, if there is one, outlives the strips.
  explicit TensorStrips(std::shared_ptr<const TensorRelation> tensor, const Cancellation* cancellation = nullptr);

  /// The next strip; null after the last. Only the number of elements in its shape is meaningful. Throws Error if tiles
  /// cannot be read back to memory, Error{Cancelled}.
  TilePtr next();
  /// Starts again at the first element.
  void rewind() { next_ = 0; }

  const TensorRelation& tensor() const { return *tensor_; }

 private:
  std::shared_ptr<const TensorRelation> tensor_;
  const Cancellation* cancellation_;
  TileGrid strips_;  // its tiles, in order of their number, are the strips
  std::int64_t count_;
  std::int64_t next_ = 0;
};

}  // namespace eindb
