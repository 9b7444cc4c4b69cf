#pragma once

#include <algorithm>
#include <vector>

namespace eindb {

/// The median of at least one value; of an even number of values, the upper one of the two in the middle.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace eindb
