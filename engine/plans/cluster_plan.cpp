#include "engine/plans/cluster_plan.hpp"

#include <utility>

#include "common/check.hpp"
#include "engine/plans/query_plan.hpp"
#include "optimizer/partitions/placement.hpp"
#include "optimizer/partitions/worker_choice.hpp"

namespace eindb {
namespace {

// The partition vectors for the ranks that compute: the vectors of the query's plan if it has the same parallelism.
Labelling labelling_for(const OptimizedPlan& plan, const ClusterTerms& terms) {
  if (plan.parallelism == terms.parallelism) return plan.labelling;
  return label_for_workers(plan.graph, terms.strategy, {terms.parallelism, false, {}}, terms.shape.computing);
}

std::vector<PlannedInput> planned_inputs(const PhysicalPlan& plan) {
  std::vector<PlannedInput> inputs;
  for (const auto& step : plan.steps) {
    const auto* scan = std::get_if<ScanStep>(&step.op);
    if (scan == nullptr) continue;
    CHECK(scan->holders <= inputs.size(), "lists of holders are numbered in the order of their first scans");
    if (scan->holders == inputs.size()) inputs.emplace_back(scan->tensor);
    inputs.at(scan->holders).add(scan->tensor);
  }
  return inputs;
}

}  // namespace

std::shared_ptr<const ClusterPlan> plan_for_cluster(const QueryPlan& query, ClusterTerms terms) {
  const auto& graph = query.plan.graph;
  CHECK(terms.stored.size() == query.plan.result_grids.size(), "it is known of each result where it is wanted");
  const auto labelling = labelling_for(query.plan, terms);
  CHECK(labelling.vertices.size() == graph.size(), "every vertex is labelled before it is placed");
  std::vector<DistributedResult> results;
  for (std::size_t n = 0; n < terms.stored.size(); ++n)
    results.push_back({query.plan.result_grids[n], terms.stored[n]});
  auto plan = plan_for_ranks(graph, labelling, place(graph, labelling, terms.shape.computing), terms.shape, results);
  auto inputs = planned_inputs(plan);
  return std::make_shared<const ClusterPlan>(ClusterPlan{std::move(terms), std::move(plan), std::move(inputs)});
}

}  // namespace eindb
