#pragma once

#include <optional>

#include "executor/kernels/kernel.hpp"
#include "tensor/einsum.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Computes an EinSum's final values from its aggregated ones, if it has an epilogue. Immutable, thread-safe.
class Epilogue {
 public:
  Epilogue(const EinSum& einsum, DType compute_dtype);

  explicit operator bool() const { return kernel_.has_value(); }
  /// Replaces aggregated values, in the compute type, by final values. Without an epilogue they are equal.
  void apply(Tile& tile) const;
  /// Whether the final value of +0 is +0.
  bool keeps_zero() const { return keeps_zero_; }

 private:
  std::optional<Kernel> kernel_;  // for a strip of a tile
  bool keeps_zero_;
};

}  // namespace eindb
