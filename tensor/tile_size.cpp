#include "tensor/tile_size.hpp"

#include <algorithm>

namespace eindb {

double counted_tile_bytes(StoredType type, double cells) {
  constexpr double kMostDecoded = 4;  // times the bytes that are stored
  const auto unit = unit_of(type);
  const auto stored = cells * static_cast<double>(unit.bytes) / static_cast<double>(unit.cells);
  return std::max(stored, cells * static_cast<double>(size_of(type.values)) / kMostDecoded);
}

}  // namespace eindb
