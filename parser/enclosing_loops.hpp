#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "parser/ast.hpp"

namespace eindb {

/// The loops around a statement, and their variables.
struct EnclosingLoops {
  std::size_t depth = 0;
  std::set<std::string> variables;  ///< variables that hold the number of the round
};

}  // namespace eindb
