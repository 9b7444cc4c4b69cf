#pragma once

#include <vector>

#include "tensor/dense_tensor.hpp"
#include "tensor/einsum.hpp"

namespace eindb {

/// The oracle: evaluates one EinSum over dense tensors with one nested loop over all labels, directly by equation 2 of
/// the EinDecomp paper. Deliberately slow and simple; every kernel and plan is compared with it. Every operation is
/// computed in its own type (tensor/scalar_types). `compute` is the type of the aggregated values, which are rounded
/// once to `result`. Sums accumulate in the widest type of their kind, so that the reference is the more precise side
/// of a comparison. Of functions of vectors and matrices (tensor/block_function) it has recurrences alone.
DenseTensor evaluate_reference(const EinSum& einsum, const LabelTable& labels,
                               const std::vector<const DenseTensor*>& inputs, DType compute, DType result);

}  // namespace eindb
