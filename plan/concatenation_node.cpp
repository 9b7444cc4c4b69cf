#include "plan/concatenation_node.hpp"

#include <algorithm>

#include "common/checked_math.hpp"

namespace eindb {

void ConcatenationNode::check(const OperatorView& view, const Checker& check) const {
  const auto& shape = view.result.grid.shape();
  check(!view.inputs.empty() && along < shape.rank(), "relations are joined along a dimension of theirs");
  auto distinct = inputs;
  std::sort(distinct.begin(), distinct.end());
  check(std::adjacent_find(distinct.begin(), distinct.end()) == distinct.end(), "a relation is joined once");
  std::int64_t extent = 0;
  for (const auto& input : view.inputs) {
    check(input.dtype == view.result.dtype, "a concatenation keeps the type");
    check(input.grid.rank() == shape.rank(), "relations that are joined have as many dimensions");
    check((input.role == OperatorRole::Source) == (view.inputs.front().role == OperatorRole::Source),
          "relations that are joined are all stored, or all computed");
    for (std::size_t d = 0; d < shape.rank(); ++d) {
      if (d == along) extent = checked_add(extent, input.grid.shape()[d]);
      else check(input.grid.shape()[d] == shape[d], "relations that are joined have the other extents in common");
      check(input.grid.shape()[d] > 0, "a relation that is joined has elements");
    }
  }
  check(extent == shape[along], "a concatenation has the elements of its inputs");
}

DescriptionFields ConcatenationNode::describe(const EinGraph& /*graph*/) const {
  return {{"along", "dimension " + std::to_string(along + 1), "along"}};
}

CallLoops ConcatenationNode::loops(const OperatorView& view) const {
  const auto& result = view.result;
  CallLoops out{result.grid.rank(), {}};
  for (const auto& input : view.inputs) {
    CallLoops::Operand operand{input.bytes(), {}, {}};
    for (std::size_t d = 0; d < result.grid.rank(); ++d) {
      const auto cut = static_cast<double>(input.grid.partition()[d]);
      // Along the joined dimension the input is read by its share of the tiles.
      const auto share = static_cast<double>(input.grid.shape()[d]) / static_cast<double>(result.grid.shape()[d]);
      const auto wanted = std::max(1.0, static_cast<double>(result.grid.partition()[d]) * share);
      operand.part.push_back(1 / std::min(cut, wanted));
      operand.again.push_back(std::max(1.0, wanted / cut));
    }
    out.operands.push_back(std::move(operand));
  }
  CallLoops::Operand made{result.bytes(), {}, {}};
  for (std::size_t d = 0; d < result.grid.rank(); ++d) {
    made.part.push_back(1 / static_cast<double>(result.grid.partition()[d]));
    made.again.push_back(1);
  }
  out.operands.push_back(std::move(made));
  return out;
}

}  // namespace eindb
