#pragma once

#include <vector>

#include "engine/results/result.hpp"

namespace eindb {

/// Copies all elements of a result to `target`, which is at element (0, ..., 0); strides are in elements of its type,
/// one per dimension, and may be negative. Error{Value} for another number of strides.
void copy_to_memory(const TensorRelation& tensor, void* target, const std::vector<std::int64_t>& strides);

/// The whole as one tile: the tensor's own, if it has only one.
TilePtr whole_tile(const TensorRelation& tensor);

}  // namespace eindb
