#pragma once

#include <string>

#include "engine/results/result.hpp"

namespace eindb {

/// The result of EXPLAIN: a row for each line of the text, or one row with the whole text.
Result explanation(const std::string& text, bool one_cell);

}  // namespace eindb
