#pragma once

#include <string>
#include <vector>

#include "engine/results/result.hpp"

namespace eindb {

/// Formats the numbers of an array with equal widths by NumPy's rules: at most 8 digits after the point and no more
/// than necessary; decimal points aligned; exponents for all numbers if the largest is at least 1e8, the smallest
/// nonzero one below 1e-4, or their ratio above 1000.
/// Example: 1, 2.5, -10 give "  1. ", "  2.5", "-10. ".
std::vector<std::string> align_numbers(const std::vector<Cell>& numbers);

}  // namespace eindb
