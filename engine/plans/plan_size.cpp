#include "engine/plans/plan_size.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/plans/cluster_plan.hpp"
#include "engine/plans/query_plan.hpp"
#include "plan/held_bytes.hpp"

namespace eindb {
namespace {

std::size_t block_bytes(const Partition& parts, const std::vector<std::optional<TileKey>>& at) {
  auto bytes = held_bytes(parts) + held_bytes(at);
  for (const auto& block : at) bytes += block ? held_bytes(*block) : 0;
  return bytes;
}

std::size_t groups_bytes(const std::vector<RankGroup>& groups) {
  auto bytes = held_bytes(groups);
  for (const auto& group : groups) bytes += held_bytes(group);
  return bytes;
}

std::size_t collective_bytes(const RedistributionStep& step) {
  if (const auto* gather = std::get_if<AllGather>(&step.collective)) return groups_bytes(gather->groups);
  if (const auto* exchange = std::get_if<AllToAll>(&step.collective)) return groups_bytes(exchange->groups);
  if (const auto* permutation = std::get_if<AllPermute>(&step.collective)) return held_bytes(permutation->from);
  return 0;
}

std::size_t sequence_bytes(const RedistributionPlan& sequence) {
  auto bytes = held_bytes(sequence.shape.extents()) + held_bytes(sequence.steps) +
               block_bytes(sequence.source.parts, sequence.source.at);
  for (const auto& step : sequence.steps)
    bytes += collective_bytes(step) + block_bytes(step.result.parts, step.result.at);
  return bytes;
}

std::size_t step_bytes(const PlanStep& step) {
  auto bytes = held_bytes(step.grid);
  if (const auto* blocks = std::get_if<BlockPlacement>(&step.placement))
    bytes += block_bytes(blocks->parts, blocks->at);
  if (const auto* compute = std::get_if<ComputeStep>(&step.op))
    bytes += held_bytes(compute->inputs) + compute->join.held_bytes() + block_bytes(compute->blocks, compute->at);
  if (const auto* moved = std::get_if<RedistributeStep>(&step.op); moved != nullptr && moved->sequence)
    bytes += sequence_bytes(*moved->sequence);
  if (const auto* whole = std::get_if<FragmentStep>(&step.op)) {
    bytes += held_bytes(whole->fragment.labels) + held_bytes(whole->fragment.nodes);
    for (const auto& node : whole->fragment.nodes) bytes += node.held_bytes();
  }
  return bytes;
}

std::size_t plan_bytes(const PhysicalPlan& plan) {
  auto bytes = held_bytes(plan.labels) + held_bytes(plan.steps);
  for (const auto& step : plan.steps) bytes += step_bytes(step);
  return bytes;
}

std::size_t labelling_bytes(const Labelling& labelling) {
  auto bytes = sizeof labelling + held_bytes(labelling.vertices);
  for (const auto& vertex : labelling.vertices) bytes += held_bytes(vertex.partition);
  return bytes;
}

}  // namespace

std::size_t approximate_bytes(const QueryPlan& plan) {
  constexpr std::size_t kKeptInput = 256;  // bytes of a tensor in KeptInputs
  // The numbers of cells that runs observe are few, and come later. A kept plan reads no relation computed in its run.
  const auto& [query, optimized, order_given, parameters, predicted_seconds, place, observed, observed_before, computed,
               runs, inputs] = plan;
  auto bytes = sizeof plan + held_bytes(query.graph) + held_bytes(optimized.graph) + plan_bytes(optimized.physical) +
               labelling_bytes(optimized.labelling);
  if (const auto* fragment = optimized.physical.fragment()) {
    const auto is_join = [](const FragmentNode& node) { return std::holds_alternative<JoinNode>(node.op); };
    const auto joins = std::count_if(fragment->nodes.begin(), fragment->nodes.end(), is_join);
    std::set<std::string_view> tensors;
    for (const auto& node : fragment->nodes)
      if (const auto* stored = node.stored()) tensors.insert(stored->name);
    bytes += KeptRuns::approximate_bytes(static_cast<std::size_t>(joins)) + tensors.size() * kKeptInput;
  }
  return bytes;
}

std::size_t approximate_bytes(const LatestClusterPlan& latest) {
  auto bytes = sizeof latest + held_bytes(latest.inputs);
  for (const auto& input : latest.inputs)
    bytes += (input.listed() == nullptr ? 0 : input.listed()->size()) * (kHeapBlock + sizeof(std::int64_t));
  if (latest.locations != nullptr) bytes += approximate_bytes(*latest.locations);
  if (latest.plan == nullptr) return bytes;
  const auto& [terms, labelling, plan] = *latest.plan;
  return bytes + sizeof terms + labelling_bytes(labelling) + sizeof plan + plan_bytes(plan);
}

std::size_t approximate_bytes(const InputLocations& locations) {
  auto bytes = sizeof locations + held_bytes(locations.terms.workers);
  for (const auto& holders : locations.holders) bytes += sizeof holders + holders.held_bytes();
  for (const auto& contents : locations.contents) bytes += sizeof contents + held_bytes(contents.runs());
  return bytes;
}

}  // namespace eindb
