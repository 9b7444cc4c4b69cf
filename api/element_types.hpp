#pragma once

#include <eindb/eindb.hpp>

#include "engine/tensors/memory_tensor.hpp"

namespace eindb {

ElementType element_type(DType type);
/// Error{Type} if it is none of the enumeration's.
DType dtype(ElementType type);
/// The engine's description of a tensor in the program's memory.
MemoryTensor memory_tensor(const TensorView& view);
/// The same of cells, which are checked and copied. Throws Error as Connection::attach says.
MemoryTensor memory_tensor(const CellsView& view);

}  // namespace eindb
