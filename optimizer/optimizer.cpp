#include "optimizer/optimizer.hpp"

#include "optimizer/flops.hpp"
#include "optimizer/physical_planner.hpp"
#include "optimizer/stopwatch.hpp"
#include "plan/validator.hpp"

namespace eindb {
namespace {

template <class Stage>
auto timed(std::string name, std::vector<StageTiming>& timings, Stage stage) {
  const Stopwatch watch;
  auto result = stage();
  timings.push_back({std::move(name), watch.seconds()});
  return result;
}

// Thrown before any cost is computed with it.
void check_output_partition(const EinGraph& graph, const std::optional<Partition>& partition) {
  if (partition) TileGrid(graph.vertex(graph.output()).bound, *partition);
}

PathSummary summary(const EinGraph& bound, const EinGraph& ordered, const PathReport& report) {
  const auto after = flops_of(ordered);
  return {report, flops_of(bound).flops, after.flops, after.largest_result};
}

}  // namespace

OptimizedPlan optimize(const EinGraph& graph, const OptimizerOptions& options) {
  const Stopwatch watch;
  check_output_partition(graph, options.output_partition);
  OptimizedPlan plan;
  PathSearch paths(options.path);
  plan.graph = run_passes(graph, options.disabled_passes, plan.stages, paths);
  plan.path = summary(graph, plan.graph, paths.report());
  const DecompositionOptions decomposition{options.parallelism, options.free_inputs, options.output_partition};
  plan.labelling =
      timed("decomposition", plan.stages, [&] { return label(plan.graph, options.strategy, decomposition); });
  if (options.compare_strategies)
    plan.strategies = timed("comparison", plan.stages,
                            [&] { return compare_strategies(plan.graph, options.strategy, decomposition); });
  plan.physical = timed("physical_plan", plan.stages,
                        [&] { return plan_physically(plan.graph, plan.labelling, options.output_partition); });
  validate(plan.physical);
  plan.planning_seconds = watch.seconds();
  return plan;
}

}  // namespace eindb
