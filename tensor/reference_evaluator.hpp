#pragma once

#include <vector>

#include "tensor/dense_tensor.hpp"
#include "tensor/einsum.hpp"

namespace eindb {

/// The oracle: evaluates one EinSum over dense tensors with one nested loop over all labels, straight from
/// equation 2 of the EinDecomp paper. Slow and plain on purpose; every kernel and every plan is held against it.
/// Every operation is computed in its own type (tensor/scalar_types); `compute` is that of the values that are
/// aggregated, which are rounded once to `result`. Sums accumulate in the widest type of the kind, so that the
/// reference is the more exact side of a comparison.
DenseTensor evaluate_reference(const EinSum& einsum, const LabelTable& labels,
                               const std::vector<const DenseTensor*>& inputs, DType compute, DType result);

}  // namespace eindb
