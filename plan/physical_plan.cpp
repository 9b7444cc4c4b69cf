#include "plan/physical_plan.hpp"

#include <algorithm>
#include <utility>

namespace eindb {

bool ComputeStep::is_partial() const {
  const auto& labels = join.partition.labels;
  return std::any_of(join.einsum.aggregated.begin(), join.einsum.aggregated.end(), [&](Label label) {
    const auto place = std::find(labels.begin(), labels.end(), label) - labels.begin();
    return blocks[static_cast<std::size_t>(place)] > 1;
  });
}

const Fragment* PhysicalPlan::fragment() const {
  const auto* step = steps.size() == 1 ? std::get_if<FragmentStep>(&steps.front().op) : nullptr;
  return step == nullptr ? nullptr : &step->fragment;
}

double PlanStep::packed_share() const { return cells ? packed_share_of_cells(*cells, dtype, grid.shape()) : 1; }

PhysicalPlan plan_of(Fragment fragment) {
  PhysicalPlan plan;
  plan.results.assign(fragment.result_count(), StepId(0));
  const auto& sink = fragment.sink(0);
  const auto vertex = sink.vertex;
  const auto dtype = sink.dtype;
  const auto grid = sink.grid;
  BlockPlacement here{Partition(grid.rank(), 1), {TileKey(grid.rank(), 0)}};
  plan.steps.push_back({FragmentStep{std::move(fragment)}, vertex, dtype, grid, std::move(here)});
  return plan;
}

std::vector<StepId> inputs_of(const PlanStep& step) {
  return std::visit([](const auto& op) -> std::vector<StepId> { return op.reads(); }, step.op);
}

std::string operator_name(const PlanStep& step) {
  return std::visit([](const auto& op) -> std::string { return op.kName; }, step.op);
}

}  // namespace eindb
