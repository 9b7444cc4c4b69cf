#include "plan/group_by_node.hpp"

namespace eindb {

void GroupByNode::check(const OperatorView& view, const Checker& check) const {
  const auto& join = view.inputs.front();
  check(join.role == OperatorRole::Kernel && join.is_partial,
        "a group-by follows a join whose aggregated labels are cut");
  check(view.result.grid == join.grid && view.result.dtype == join.dtype,
        "a group-by keeps grid and type of its groups");
}

}  // namespace eindb
