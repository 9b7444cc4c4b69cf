#pragma once

#include <eindb/eindb.hpp>

#include "engine/tensors/memory_tensor.hpp"

namespace eindb {

ElementType element_type(DType type);
/// The engine's description of a tensor in the program's memory.
MemoryTensor memory_tensor(const TensorView& view);

}  // namespace eindb
