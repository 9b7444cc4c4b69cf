#include "plan/physical_plan.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace eindb {

bool ComputeStep::is_partial() const {
  std::map<TileKey, TileKey> known;  // of each block of the result that is met, a block of the aggregated labels
  return std::any_of(at.begin(), at.end(), [&](const std::optional<TileKey>& block) {
    if (!block) return false;
    const LabelPartition key{join.partition.labels, *block};
    const auto aggregated = key.project(join.einsum.aggregated);
    return known.emplace(key.project(join.einsum.output), aggregated).first->second != aggregated;
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
