#include "executor/join_input.hpp"

namespace eindb {

JoinInput join_input(const FragmentNode& node) {
  const auto* stored = node.stored();
  const bool is_encoded = stored != nullptr && stored->encoding != Encoding::Plain;
  return {node.dtype, &node.grid, is_encoded && !node.cells, node.cells.has_value()};
}

}  // namespace eindb
