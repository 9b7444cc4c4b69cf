#pragma once

#include "tensor/dtype.hpp"

namespace eindb {

/// The bytes that so many cells of a tensor of `elements` take where they are stored or sent (storage/encoding), if
/// they are spread evenly and have several values.
double packed_bytes_of_cells(DType type, double elements, double cells);

}  // namespace eindb
