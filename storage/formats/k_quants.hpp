#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/stored_type.hpp"

namespace eindb {

/// GGML's types of blocks of 256 cells, in parts of 32 or 16 cells with a small scale of their own each. Tensors are
/// not stored so: their values are FLOAT32 once they are read.
enum class KQuant : std::uint8_t { Q4K, Q5K, Q6K };

/// The cells and the bytes of a block.
EncodingUnit unit_of(KQuant type);

/// The values of whole blocks, which may hold anything; `values` has the cells of all blocks in `source`.
void decode_blocks(KQuant type, std::span<const std::byte> source, std::span<float> values);

}  // namespace eindb
