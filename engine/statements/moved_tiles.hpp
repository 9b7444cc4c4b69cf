#pragma once

#include <cstdint>

#include "catalog/tensor_info.hpp"
#include "engine/session/session_state.hpp"
#include "engine/settings/settings.hpp"
#include "tensor/partition.hpp"

namespace eindb {

/// The bytes that move_tiles() may take.
std::int64_t memory_for_moves(const Settings& settings);

/// Stores the values of a tensor as another type, in tiles of another grid, or at other workers, inside the caller's
/// transaction. The grid has the same shape, or a larger one with zeros behind the values. The types are both of real
/// numbers or both of integers, or the new one is complex. Reports progress. Error{Value} for a value that the type
/// does not hold.
TensorInfo move_tiles(const TensorInfo& tensor, StoredType type, const TileGrid& grid, int replicas,
                      const DimensionNames& names, SessionState& session);

}  // namespace eindb
