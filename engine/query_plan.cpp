#include "engine/query_plan.hpp"

#include <algorithm>
#include <string>

#include "common/check.hpp"
#include "parser/binder/parameter_scope.hpp"
#include "plan/parameters.hpp"

namespace eindb {
namespace {

void give_values(JoinNode& join, const std::vector<ParameterValue>& values) {
  substitute_parameters(join, [&](std::size_t number) {
    CHECK(number < values.size(), "a plan runs with a value for each parameter");
    return constant_of(values[number]);
  });
}

void give_indices(InputTensor& tensor, const std::vector<ParameterValue>& values) {
  if (!tensor.selection) return;
  for (const auto& [dimension, parameter] : tensor.selection->parameters)
    tensor.selection->at[dimension] = std::get<std::int64_t>(values[parameter]);
}

}  // namespace

PhysicalPlan with_values(PhysicalPlan plan, const std::vector<ParameterValue>& values) {
  for (auto& node : plan.nodes)
    if (auto* join = std::get_if<JoinNode>(&node.op)) give_values(*join, values);
    else if (auto* scan = std::get_if<ScanNode>(&node.op)) give_indices(scan->tensor, values);
  return plan;
}

bool serves_indices(const QueryPlan& plan, const std::vector<ParameterValue>& values) {
  const auto serves = [&](const Vertex& vertex) {
    if (!vertex.stored || !vertex.stored->selection) return true;
    const auto& selection = *vertex.stored->selection;
    return std::all_of(selection.parameters.begin(), selection.parameters.end(), [&](const auto& held) {
      const auto index = std::get<std::int64_t>(values[held.second]);
      return index >= 0 && index < selection.stored.shape()[held.first];
    });
  };
  return std::all_of(plan.query.graph.vertices().begin(), plan.query.graph.vertices().end(), serves);
}

DistributedPlan with_values(DistributedPlan plan, const std::vector<ParameterValue>& values) {
  for (auto& step : plan.steps)
    if (auto* compute = std::get_if<ComputeStep>(&step.op)) give_values(compute->join, values);
  return plan;
}

}  // namespace eindb
