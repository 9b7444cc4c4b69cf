#pragma once

#include <cstdint>

#include "tensor/stored_type.hpp"

namespace eindb {

/// The bytes that so many cells of a tile count as where tiles are cut to a size: those that are stored, or a quarter
/// of those of their values if that is more, since kernels that do not read an encoding decode a tile at a time.
/// 64-bit integers that are stored as INT8 count as two bytes each, BFLOAT16 as its own two.
double counted_tile_bytes(StoredType type, double cells);

}  // namespace eindb
