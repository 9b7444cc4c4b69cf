#pragma once

#include <cstddef>
#include <span>

#include "tensor/einsum.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// What an empty group gives: SUM 0, PROD 1, MIN infinity (INT64: the largest), MAX the opposite. 0 for None.
Tile identity_tile(Aggregate aggregate, DType type, Shape shape);

/// into = aggregate(into, from), element by element: merges partial results of equal type and shape.
void combine(Aggregate aggregate, Tile& into, const Tile& from);
/// The same for elements as they lie in memory, of equal size.
void combine(Aggregate aggregate, DType type, std::span<std::byte> into, std::span<const std::byte> from);

/// The same elements in another type; complex to real takes the real part, real to INT64 drops the fraction.
Tile convert(const Tile& tile, DType type);

}  // namespace eindb
