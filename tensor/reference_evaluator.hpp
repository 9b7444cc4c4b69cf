#pragma once

#include <vector>

#include "tensor/dense_tensor.hpp"
#include "tensor/einsum.hpp"

namespace eindb {

/// The oracle: evaluates one EinSum over dense tensors with one nested loop over all labels, straight from
/// equation 2 of the EinDecomp paper. Slow and plain on purpose; every kernel and every plan is held against it.
/// Computes in `compute` (see compute_type_of), rounds once to `result`. Sums accumulate in the widest type of
/// the kind, so that the reference is the more exact side of a comparison.
DenseTensor evaluate_reference(const EinSum& einsum, const LabelTable& labels,
                               const std::vector<const DenseTensor*>& inputs, DType compute, DType result);

}  // namespace eindb
