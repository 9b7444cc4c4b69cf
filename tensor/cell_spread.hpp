#pragma once

#include <vector>

namespace eindb {

/// How the cells of a tensor lie along one of its dimensions.
struct DimensionSpread {
  double indices = 0;  ///< how many of the dimension's indices have cells
  double degree = 0;   ///< the most cells that one index has

  friend bool operator==(const DimensionSpread&, const DimensionSpread&) = default;
};

/// The same for every dimension; empty where it is not known.
using CellSpread = std::vector<DimensionSpread>;

/// About how many cells a tensor has, and how they lie. Plans alone depend on it.
struct CellEstimate {
  double cells = 0;
  CellSpread spread = {};

  friend bool operator==(const CellEstimate&, const CellEstimate&) = default;
};

}  // namespace eindb
