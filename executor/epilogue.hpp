#pragma once

#include <optional>

#include "executor/kernels/kernel.hpp"
#include "tensor/einsum.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// What makes an EinSum's final values of its aggregated ones, if it has such a thing. Immutable, thread-safe.
class Epilogue {
 public:
  Epilogue(const EinSum& einsum, DType compute_dtype);

  explicit operator bool() const { return kernel_.has_value(); }
  /// Gives a tile of aggregated values, in the compute type, its final ones; without an epilogue they are that already.
  void apply(Tile& tile) const;
  /// Whether the final value of +0 is +0.
  bool keeps_zero() const { return keeps_zero_; }

 private:
  std::optional<Kernel> kernel_;  // of a strip of a tile
  bool keeps_zero_;
};

}  // namespace eindb
