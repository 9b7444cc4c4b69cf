#pragma once

#include <vector>

#include "plan/fragment.hpp"
#include "tensor/partition.hpp"

namespace eindb {

/// The type, the grid and the possible representations of the tiles of a join's input.
struct JoinInput {
  DType dtype = DType::Float64;
  const TileGrid* grid = nullptr;
  bool may_be_encoded = false;  ///< see Tile::encoding
  bool of_cells = false;        ///< see Tile::is_of_cells
  bool holds_bytes = false;     ///< all values are ones of INT8, whether tiles are encoded so or not
};

/// That of the tiles of a node of the plan, which must outlive it.
JoinInput join_input(const Fragment& plan, NodeId id);
/// Whether all inputs hold bytes.
bool hold_bytes(const std::vector<JoinInput>& inputs);

}  // namespace eindb
