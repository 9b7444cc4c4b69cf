#pragma once

#include <string>

#include "engine/results/result.hpp"

namespace eindb {

/// What EXPLAIN returns: a row for each line of the text, or one with the whole text.
Result explanation(const std::string& text, bool one_cell);

}  // namespace eindb
