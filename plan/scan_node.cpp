#include "plan/scan_node.hpp"

namespace eindb {

void ScanNode::check(const OperatorView& view, const Checker& check) const {
  check(view.result.grid == tensor.grid, "a scan has the grid of its tensor");
  check(view.result.dtype == tensor.dtype, "a scan has the type of its tensor");
}

DescriptionFields ScanNode::describe(const EinGraph&) const {
  if (!tensor.selection) return {};
  return {{"selection", std::to_string(tensor.grid.tile_count()) + " of " +
                            std::to_string(tensor.selection->stored.tile_count()) + " tiles"}};
}

void ScanNode::substitute(const Substitution& values) {
  if (!tensor.selection || !values.index) return;
  for (const auto& [dimension, parameter] : tensor.selection->parameters)
    tensor.selection->at[dimension] = values.index(parameter);
}

}  // namespace eindb
