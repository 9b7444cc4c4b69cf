#pragma once

#include <cstdint>
#include <memory>

#include "common/cancellation.hpp"
#include "engine/results/result.hpp"

namespace eindb {

/// The elements of a tensor in row-major order, however it is cut: in strips, one after the other, of elements that
/// follow each other. A 4 x 4 tensor in tiles a, b, c, d of 2 x 2, and its strips of a row each:
///
///     a b      aabb | aabb | ccdd | ccdd
///     c d
///
/// Tiles that lie in this order as they are, are strips themselves. Takes kBytes beside the tensor. Not thread-safe.
class TensorStrips {
 public:
  /// Of a strip that is put together, at most.
  static constexpr std::int64_t kBytes = std::int64_t{1} << 20U;

  /// `cancellation`, if there is one, outlives the strips.
  explicit TensorStrips(std::shared_ptr<const TensorRelation> tensor, const Cancellation* cancellation = nullptr);

  /// The next elements, null after the last; the shape of a strip says nothing but how many they are. Throws Error
  /// where tiles cannot be brought back to memory, Error{Cancelled}.
  TilePtr next();
  /// From the first element on again.
  void rewind() { next_ = 0; }

  const TensorRelation& tensor() const { return *tensor_; }

 private:
  std::shared_ptr<const TensorRelation> tensor_;
  const Cancellation* cancellation_;
  TileGrid strips_;  // whose tiles, in order of their number, are the elements in order
  std::int64_t count_;
  std::int64_t next_ = 0;
};

}  // namespace eindb
