#include "engine/query_plan.hpp"

#include <algorithm>
#include <string>

#include "common/check.hpp"
#include "parser/binder/parameter_scope.hpp"
#include "plan/parameters.hpp"

namespace eindb {
namespace {

// A block of its own on the heap, with what the allocator adds.
constexpr std::size_t kBlock = 32;

template <class T>
std::size_t bytes_of(const std::vector<T>& values) {
  return values.empty() ? 0 : kBlock + values.size() * sizeof(T);
}

std::size_t bytes_of(const ScalarExpression& e) {
  std::size_t bytes = kBlock + sizeof e + bytes_of(e.cell()) + bytes_of(e.arguments());
  for (const auto& argument : e.arguments()) bytes += bytes_of(*argument);
  return bytes;
}

std::size_t bytes_of(const EinSum& einsum) {
  auto bytes = bytes_of(einsum.inputs) + bytes_of(einsum.output) + bytes_of(einsum.aggregated);
  for (const auto& labels : einsum.inputs) bytes += bytes_of(labels);
  return bytes + (einsum.expression ? bytes_of(*einsum.expression) : 0);
}

std::size_t bytes_of(const TileGrid& grid) { return 2 * bytes_of(grid.partition()); }

std::size_t bytes_of(const LabelPartition& partition) { return bytes_of(partition.labels) + bytes_of(partition.parts); }

std::size_t bytes_of(const LabelTable& labels) {
  std::size_t bytes = 0;
  for (std::size_t n = 0; n < labels.size(); ++n) bytes += 2 * kBlock + labels.name(Label(n)).size();
  return bytes;
}

std::size_t bytes_of(const EinGraph& graph) {
  auto bytes = bytes_of(graph.vertices()) + bytes_of(graph.labels());
  for (const auto& vertex : graph.vertices())
    bytes += bytes_of(vertex.inputs) + bytes_of(vertex.einsum) + bytes_of(vertex.bound.extents());
  return bytes;
}

std::size_t bytes_of(const PhysicalNode& node) {
  auto bytes = bytes_of(node.grid);
  const auto* join = std::get_if<JoinNode>(&node.op);
  if (join == nullptr) return bytes;
  bytes += bytes_of(join->inputs) + bytes_of(join->einsum) + bytes_of(join->partition) + bytes_of(join->rows) +
           bytes_of(join->steps);
  for (const auto& step : join->steps) bytes += bytes_of(step.inputs) + bytes_of(step.einsum);
  return bytes;
}

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

std::size_t approximate_bytes(const QueryPlan& plan) {
  const auto& [query, optimized, order_given, parameters, predicted_seconds] = plan;
  auto bytes = sizeof plan + bytes_of(query.graph) + bytes_of(optimized.graph) + bytes_of(optimized.physical.labels) +
               bytes_of(optimized.physical.nodes) + bytes_of(optimized.labelling.vertices);
  for (const auto& vertex : optimized.labelling.vertices) bytes += bytes_of(vertex.partition);
  for (const auto& node : optimized.physical.nodes) bytes += bytes_of(node);
  return bytes;
}

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
