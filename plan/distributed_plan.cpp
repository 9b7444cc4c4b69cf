#include "plan/distributed_plan.hpp"

#include <algorithm>

namespace eindb {

bool ComputeStep::is_partial() const {
  const auto& labels = join.partition.labels;
  return std::any_of(join.einsum.aggregated.begin(), join.einsum.aggregated.end(), [&](Label label) {
    const auto place = std::find(labels.begin(), labels.end(), label) - labels.begin();
    return blocks[static_cast<std::size_t>(place)] > 1;
  });
}

std::vector<StepId> inputs_of(const DistributedStep& step) {
  if (const auto* compute = std::get_if<ComputeStep>(&step.op)) return compute->inputs;
  if (const auto* moved = std::get_if<RedistributeStep>(&step.op)) return {moved->input};
  if (const auto* reduced = std::get_if<ReduceStep>(&step.op)) return {reduced->input};
  return {};
}

std::string operator_name(const DistributedStep& step) {
  static constexpr const char* kNames[] = {"scan", "redistribute", "compute", "reduce"};
  return kNames[step.op.index()];
}

}  // namespace eindb
