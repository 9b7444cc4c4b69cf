#include "plan/sink_node.hpp"

namespace eindb {

void SinkNode::check(const OperatorView& view, const Checker& check) const {
  const auto& source = view.inputs.front();
  check(view.result.grid == source.grid && view.result.dtype == source.dtype, "a sink keeps grid and type");
  check(source.role != OperatorRole::Delivery, "nobody reads a sink");
}

}  // namespace eindb
