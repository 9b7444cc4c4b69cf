#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tensor/cell_block.hpp"

namespace eindb {

/// The cells of a block of any shape as bytes on their way between ranks, in about as many bytes as stored tiles take
/// for them. The format is documented at the head of packed_cells.cpp. A cell whose value has no bit set is left out.
/// Takes memory for the bytes, and for the number of each cell.
std::vector<std::byte> pack_cells(const CellBlock& cells);

/// How many cells such bytes say that they have, before anything is unpacked; nullopt if they are not of the format, or
/// not of a block of that type and shape. The bytes may hold anything.
std::optional<std::int64_t> packed_cell_count(DType type, const Shape& shape, std::span<const std::byte> bytes);

/// The block; nullopt if the bytes are not those of one. Takes memory for twice the cells.
std::optional<CellBlock> unpack_cells(DType type, const Shape& shape, std::span<const std::byte> bytes);

}  // namespace eindb
