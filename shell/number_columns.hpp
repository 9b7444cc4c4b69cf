#pragma once

#include <string>
#include <vector>

#include "engine/results/result.hpp"

namespace eindb {

/// Texts of one width for the numbers of an array, by NumPy's rules: at most 8 digits after the point and no more
/// than some number needs; points below each other; with an exponent for all if the largest is 1e8 or more, the
/// smallest but zero below 1e-4, or their ratio above 1000.
/// Example: 1, 2.5, -10 give "  1. ", "  2.5", "-10. ".
std::vector<std::string> align_numbers(const std::vector<Cell>& numbers);

}  // namespace eindb
