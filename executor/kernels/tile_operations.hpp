#pragma once

#include <cstddef>
#include <span>

#include "tensor/einsum.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// The aggregate of an empty group: SUM 0, PROD 1, MIN infinity (INT64: the largest value), MAX the opposite; 0 for
/// None.
Tile identity_tile(Aggregate aggregate, DType type, Shape shape);
/// The same for the aggregate of an EinSum, which may be a user's.
Tile identity_tile(const EinSum& einsum, DType type, Shape shape);

/// into = aggregate(into, from), element by element. Merges partial results of equal type and shape.
void combine(Aggregate aggregate, Tile& into, const Tile& from);
/// The same for the aggregate of an EinSum, which may be a user's.
void combine(const EinSum& einsum, Tile& into, const Tile& from);
/// The same for elements in contiguous memory of equal size.
void combine(Aggregate aggregate, DType type, std::span<std::byte> into, std::span<const std::byte> from);

/// The elements in another type; complex to real takes the real part, real to INT64 truncates.
Tile convert(const Tile& tile, DType type);

}  // namespace eindb
