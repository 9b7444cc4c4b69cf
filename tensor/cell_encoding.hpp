#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tensor/stored_type.hpp"

namespace eindb {

/// Encodes cells, consecutive values of the C++ type of `type.values`, into `target`, which has encoded_bytes(type,
/// cells) bytes; what the last unit has beyond the cells is filled with zeros. Floats are rounded to the nearest, ties
/// to even, as NumPy and PyTorch round them; those of Q8_0 and Q4_0 as GGML's reference does. Returns the number of the
/// first value that the type does not hold: an integer beyond its range, in Q8_0 and Q4_0 one of a block with
/// infinities, NaN or values above 8 million; then `target` has no meaning. Thread-safe.
std::optional<std::int64_t> encode_cells(StoredType type, std::span<const std::byte> values, std::int64_t cells,
                                         std::span<std::byte> target);

/// Decodes that many cells from encoded_bytes(type, cells) bytes, which may hold anything. `source` begins with a unit.
/// Values are of type `as`: type.values, or a real type that holds them all (see decodes_to). Thread-safe.
void decode_cells(StoredType type, std::span<const std::byte> source, std::int64_t cells, DType as,
                  std::span<std::byte> values);
/// Whether decode_cells gives values of that type: the encoding's own, and for integers of at most 16 bits FLOAT32 and
/// FLOAT64, of 32 bits FLOAT64.
bool decodes_to(StoredType type, DType as);

}  // namespace eindb
