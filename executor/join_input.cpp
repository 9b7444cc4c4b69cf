#include "executor/join_input.hpp"

#include <algorithm>
#include <variant>

namespace eindb {

JoinInput join_input(const Fragment& plan, NodeId id) {
  const auto& node = plan.node(id);
  const auto* stored = node.stored();
  const bool is_encoded = stored != nullptr && stored->encoding != Encoding::Plain;
  const auto* moved = std::get_if<RepartitionNode>(&node.op);
  const auto* source = moved != nullptr ? plan.node(moved->input).stored() : stored;
  return {.dtype = node.dtype,
          .grid = &node.grid,
          .may_be_encoded = is_encoded && !node.cells,
          .of_cells = node.cells.has_value(),
          .holds_bytes = source != nullptr && source->encoding == Encoding::Int8 && !node.cells};
}

bool hold_bytes(const std::vector<JoinInput>& inputs) {
  return std::all_of(inputs.begin(), inputs.end(), [](const auto& input) { return input.holds_bytes; });
}

}  // namespace eindb
