#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "parser/ast.hpp"

namespace eindb {

/// The loops around a statement: what the names of their variables mean in it.
struct EnclosingLoops {
  std::size_t depth = 0;
  std::set<std::string> variables;  ///< of rounds' numbers
};

}  // namespace eindb
