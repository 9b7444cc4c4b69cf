#include "plan/scan_node.hpp"

#include "common/check.hpp"

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
  for (const auto& [dimension, parameter] : tensor.selection->parameters) {
    const auto index = index_within(values.index(parameter), tensor.selection->stored.shape()[dimension]);
    CHECK(index.has_value(), "a plan runs with indices that it serves");
    tensor.selection->at[dimension] = *index;
  }
}

}  // namespace eindb
