#include "plan/local_fragment.hpp"

#include <string>
#include <utility>

namespace eindb {
namespace {

std::vector<WindowLabel> window_of(const ComputeStep& compute, Rank rank) {
  const auto& labels = compute.join.partition.labels;
  const auto& block = *compute.at[rank];
  std::vector<WindowLabel> window;
  for (std::size_t n = 0; n < labels.size(); ++n)
    if (compute.blocks[n] > 1) window.push_back({labels[n], compute.blocks[n], block[n]});
  return window;
}

}  // namespace

Fragment local_fragment(const PhysicalPlan& plan, StepId compute, Rank rank) {
  const auto& step = plan.step(compute);
  const auto& computed = std::get<ComputeStep>(step.op);
  Fragment local;
  local.labels = plan.labels;
  local.window = window_of(computed, rank);
  auto join = computed.join;
  if (computed.is_partial()) join.einsum.epilogue = nullptr;
  for (const auto input : computed.inputs) {
    const auto& read = plan.step(input);
    InputTensor tensor{std::to_string(input.index()), read.dtype, read.grid};
    if (read.cells) {
      tensor.cells = CellEstimate{.cells = *read.cells};
      tensor.as_cells = true;
      tensor.is_computed = true;  // in the tiles that are there
    }
    join.inputs.emplace_back(local.nodes.size());
    local.nodes.push_back({ScanNode{std::move(tensor)}, read.vertex, read.dtype, read.grid, read.cells});
  }
  const bool grouped = join.is_partial();
  const auto add = [&](auto op) {
    local.nodes.push_back({std::move(op), step.vertex, step.dtype, step.grid, step.cells});
    return NodeId(local.nodes.size() - 1);
  };
  auto result = add(std::move(join));
  if (grouped) result = add(GroupByNode{result});
  add(SinkNode{result});
  return local;
}

}  // namespace eindb
