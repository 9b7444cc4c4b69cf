#include "engine/plan_size.hpp"

#include <vector>

#include "engine/cluster_plan.hpp"
#include "engine/query_plan.hpp"

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

std::size_t bytes_of(const JoinNode& join) {
  auto bytes = bytes_of(join.inputs) + bytes_of(join.einsum) + bytes_of(join.partition) + bytes_of(join.rows) +
               bytes_of(join.steps);
  for (const auto& step : join.steps) bytes += bytes_of(step.inputs) + bytes_of(step.einsum);
  return bytes;
}

std::size_t bytes_of(const PhysicalNode& node) {
  const auto* join = std::get_if<JoinNode>(&node.op);
  return bytes_of(node.grid) + (join == nullptr ? 0 : bytes_of(*join));
}

std::size_t bytes_of(const Partition& parts, const std::vector<std::optional<TileKey>>& at) {
  auto bytes = bytes_of(parts) + bytes_of(at);
  for (const auto& block : at) bytes += block ? bytes_of(*block) : 0;
  return bytes;
}

std::size_t bytes_of(const DistributedStep& step) {
  auto bytes = bytes_of(step.grid);
  if (const auto* blocks = std::get_if<BlockPlacement>(&step.placement)) bytes += bytes_of(blocks->parts, blocks->at);
  if (const auto* compute = std::get_if<ComputeStep>(&step.op))
    bytes += bytes_of(compute->inputs) + bytes_of(compute->join) + bytes_of(compute->blocks, compute->at);
  return bytes;
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

std::size_t approximate_bytes(const LatestClusterPlan& latest) {
  std::size_t bytes = sizeof latest;
  if (latest.locations != nullptr) bytes += approximate_bytes(*latest.locations);
  if (latest.plan == nullptr) return bytes;
  const auto& [terms, plan, inputs] = *latest.plan;
  bytes += sizeof terms + sizeof plan + bytes_of(plan.labels) + bytes_of(plan.steps) + bytes_of(inputs);
  for (const auto& step : plan.steps) bytes += bytes_of(step);
  for (const auto& input : inputs) bytes += input.listed() * (kBlock + sizeof(std::int64_t));
  return bytes;
}

std::size_t approximate_bytes(const InputLocations& locations) {
  auto bytes =
      sizeof locations + bytes_of(locations.terms.workers) + bytes_of(locations.holders) + bytes_of(locations.contents);
  for (const auto& holders : locations.holders) bytes += bytes_of(holders.begin) + bytes_of(holders.ranks);
  for (const auto& contents : locations.contents) bytes += bytes_of(contents);
  return bytes;
}

}  // namespace eindb
