#pragma once

#include <vector>

#include "tensor/tile_holders.hpp"

namespace eindb::testing {

/// The holders of tiles that are given one by one.
inline TileHolders holders_of_tiles(const std::vector<std::vector<Rank>>& tiles) {
  TileHolders holders;
  for (const auto& ranks : tiles) holders.add(ranks);
  return holders;
}

}  // namespace eindb::testing
