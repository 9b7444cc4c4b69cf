#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace eindb {

/// The indices of one dimension of a tensor at which the values of a region go:
///
///     X[3, ...]         always `offset`
///     X[2:8:2, ...]     offset + step * i, where i is the values' index in `dimension`
///     X[T[b], ...]      element i, ... of another result, where i, ... are the values' indices in `dimensions`
struct RegionPlace {
  std::int64_t extent = 0;  ///< of the tensor's dimension, below which all indices must be
  std::optional<std::size_t> dimension = {};
  std::int64_t step = 0;
  std::int64_t offset = 0;
  std::optional<std::size_t> parameter = {};  ///< the number, from 0, of the one whose value is the offset when it runs
  std::optional<std::size_t> indices = {};    ///< the number of the result, of INT64
  std::vector<std::size_t> dimensions = {};   ///< of the values, in the order of that result's dimensions
};

/// Where the values of an update's result go, if they do not replace its whole tensor.
struct BoundRegion {
  std::size_t result = 0;           ///< the number of the result
  std::vector<RegionPlace> places;  ///< one for each dimension of the tensor
  bool adds = false;                ///< they are added to the cells; otherwise no cell gets two of them
};

}  // namespace eindb
