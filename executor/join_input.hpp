#pragma once

#include "plan/fragment.hpp"
#include "tensor/partition.hpp"

namespace eindb {

/// The type, the grid and the possible representations of the tiles of a join's input.
struct JoinInput {
  DType dtype = DType::Float64;
  const TileGrid* grid = nullptr;
  bool may_be_encoded = false;  ///< see Tile::encoding
  bool of_cells = false;        ///< see Tile::is_of_cells
};

/// That of the tiles of a node, which must outlive it.
JoinInput join_input(const FragmentNode& node);

}  // namespace eindb
