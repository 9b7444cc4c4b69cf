#include "tensor/packed_size.hpp"

#include <algorithm>
#include <cmath>

namespace eindb {

double packed_bytes_of_cells(DType type, double elements, double cells) {
  // The largest of 128 gaps, which tells the bits of each, is about so many times the mean one.
  constexpr double kLargestGap = 5.4;
  if (cells <= 0) return 0;
  const double gap = std::max(0.0, elements / cells - 1);
  const double bits = std::min(std::log2(kLargestGap * gap + 1) + 1.0 / 16, std::max(1.0, elements / cells));
  return cells * (static_cast<double>(size_of(type)) + bits / 8);
}

}  // namespace eindb
