#pragma once

#include <vector>

#include "engine/results/result.hpp"

namespace eindb {

/// Copies all elements of a result to memory. `target` points to element (0, ..., 0); strides are in elements of its
/// type, one per dimension, and may be negative. Error{Value} for a wrong number of strides.
void copy_to_memory(const TensorRelation& tensor, void* target, const std::vector<std::int64_t>& strides);

/// The whole tensor as one tile. Shares the tensor's tile if it has only one.
TilePtr whole_tile(const TensorRelation& tensor);

}  // namespace eindb
