#include "plan/repartition_node.hpp"

#include <algorithm>

namespace eindb {

void RepartitionNode::check(const OperatorView& view, const Checker& check) const {
  const auto& source = view.inputs.front();
  check(view.result.grid.shape() == source.grid.shape(), "a repartition keeps the shape");
  check(view.result.dtype == source.dtype, "a repartition keeps the type");
  check(view.result.grid != source.grid, "a repartition changes the partition");
}

CallLoops RepartitionNode::loops(const OperatorView& view) const {
  const auto& source = view.inputs.front();
  const auto& result = view.result;
  CallLoops out{result.grid.rank(), {{source.bytes(), {}, {}}, {result.bytes(), {}, {}}}};
  for (std::size_t d = 0; d < result.grid.rank(); ++d) {
    const auto cut = static_cast<double>(source.grid.partition()[d]);
    const auto wanted = static_cast<double>(result.grid.partition()[d]);
    out.operands[0].part.push_back(1 / std::min(cut, wanted));
    out.operands[0].again.push_back(std::max(1.0, wanted / cut));
    out.operands[1].part.push_back(1 / wanted);
    out.operands[1].again.push_back(1);
  }
  return out;
}

}  // namespace eindb
