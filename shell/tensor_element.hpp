#pragma once

#include <cstdint>
#include <vector>

#include "engine/results/result.hpp"

namespace eindb {

/// One element of a result; those of absent tiles are zero. Reads one tile.
Cell tensor_element(const TensorRelation& tensor, const std::vector<std::int64_t>& index);

}  // namespace eindb
