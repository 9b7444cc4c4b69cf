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
  return std::visit([](const auto& op) -> std::vector<StepId> { return op.reads(); }, step.op);
}

std::string operator_name(const DistributedStep& step) {
  return std::visit([](const auto& op) -> std::string { return op.kName; }, step.op);
}

}  // namespace eindb
