#include "optimizer/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/stopwatch.hpp"
#include "optimizer/contraction_slicer.hpp"
#include "optimizer/flops.hpp"
#include "optimizer/partitions/calibrated_model.hpp"
#include "optimizer/partitions/density.hpp"
#include "optimizer/partitions/worker_choice.hpp"
#include "optimizer/physical_planner.hpp"
#include "optimizer/plan_memory.hpp"
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
void check_output_partitions(const EinGraph& graph, const WantedPartitions& wanted) {
  for (const auto output : graph.outputs())
    if (const auto* partition = wanted_of(graph, wanted, output)) TileGrid(graph.vertex(output).bound, *partition);
}

std::string names_of_outputs(const EinGraph& graph) {
  std::string names;
  for (const auto output : graph.outputs()) names += (names.empty() ? "" : ", ") + graph.vertex(output).name;
  return names;
}

// Elements moved, whichever model chooses.
DecompositionOptions aims_of(const OptimizerOptions& options) {
  return {options.parallelism, options.free_inputs, options.output_partitions};
}

// Partition vectors by the model asked for. What `calibrated` chooses beside them becomes the options'.
Labelling choose_partitions(OptimizedPlan& plan, OptimizerOptions& options) {
  if (options.workers > 0) return label_for_workers(plan.graph, options.strategy, aims_of(options), options.workers);
  if (!options.machine) return label(plan.graph, options.strategy, aims_of(options));
  auto choice = choose_calibrated(plan.graph, options.strategy, aims_of(options), *options.machine);
  options.parallelism = choice.parallelism;
  options.output_partitions = std::move(choice.output_partitions);
  plan.parallelism_candidates = std::move(choice.candidates);
  return std::move(choice.labelling);
}

// Of a graph in slices, with p and the result's partition as they are.
Labelling label_slices(const EinGraph& graph, const OptimizerOptions& options) {
  if (options.workers > 0) return label_for_workers(graph, options.strategy, aims_of(options), options.workers);
  auto aims = aims_of(options);
  if (!options.machine) return label(graph, options.strategy, aims);
  const CalibratedModel model(options.machine->figures, options.machine->threads);
  aims.model = &model;
  return label(graph, options.strategy, aims);
}

void lower(OptimizedPlan& plan, const OptimizerOptions& options) {
  plan.physical = plan_physically(plan.graph, plan.labelling, options.output_partitions);
  plan.peak_bytes = peak_bytes(plan.physical);
}

// Slices what does not fit. A plan holds more than its contractions alone, repartitions above all: where it turns out
// too large still, its contractions get less, then more again, as long as fewer slices would save flops worth the
// planning. The plan of the least memory stands if none fits.
void slice(OptimizedPlan& plan, const OptimizerOptions& options) {
  constexpr int kTries = 8;
  constexpr double kLeastStep = 0.8;
  constexpr double kCheapEnough = 1.05;
  const auto limit = static_cast<double>(options.memory_limit);
  const auto unsliced = plan.graph;
  const auto least_flops = flops_of(unsliced).flops;
  double flops = least_flops;
  double fits = 0;  // the contractions' share that is known to fit
  double exceeds = limit;
  double target = limit;
  for (int n = 0; n < kTries && fits < kLeastStep * exceeds; ++n) {
    auto [graph, shortfall] = slice_contractions(unsliced, target);
    if (n == 0) plan.shortfall = std::move(shortfall);
    OptimizedPlan tried;
    tried.graph = std::move(graph);
    tried.labelling = label_slices(tried.graph, options);
    lower(tried, options);
    const auto tried_flops = flops_of(tried.graph).flops;
    const bool fit = tried.peak_bytes <= limit;
    (fit ? fits : exceeds) = target;
    target = fits > 0 ? std::sqrt(fits * exceeds) : target * std::min(kLeastStep, limit / tried.peak_bytes);
    if (plan.peak_bytes > limit ? tried.peak_bytes < plan.peak_bytes : fit && tried_flops < flops) {
      plan.graph = std::move(tried.graph);
      plan.labelling = std::move(tried.labelling);
      plan.physical = std::move(tried.physical);
      plan.peak_bytes = tried.peak_bytes;
      flops = tried_flops;
    }
    if (plan.peak_bytes <= limit && flops <= kCheapEnough * least_flops) return;
  }
}

// Whether it can run where all else goes to a scratch file: threads wait for each other if it must be.
bool calls_fit(const PhysicalPlan& plan, double limit) { return working_bytes(plan, 1) <= limit; }

// A plan that does not fit and may spill: as it is, in slices, or not at all.
void choose_way_of_memory(OptimizedPlan& plan, const OptimizerOptions& options) {
  const auto limit = static_cast<double>(options.memory_limit);
  const auto& machine = *options.machine;
  const CalibratedModel model(machine.figures, machine.threads);
  const auto traffic = scratch_traffic(plan.physical, limit);
  MemoryChoice choice;
  choice.spilled_bytes = traffic.written;
  choice.seconds_spilling = plan.labelling.total_cost + model.scratch(traffic.written, traffic.read);
  if (!calls_fit(plan.physical, limit)) choice.seconds_spilling = std::numeric_limits<double>::infinity();

  OptimizedPlan sliced;
  sliced.graph = plan.graph;
  sliced.physical = plan.physical;
  sliced.labelling = plan.labelling;
  sliced.peak_bytes = plan.peak_bytes;
  slice(sliced, options);
  const bool sliced_fits = sliced.peak_bytes <= limit;
  choice.seconds_slicing = sliced_fits ? sliced.labelling.total_cost : std::numeric_limits<double>::infinity();
  choice.slices = choice.seconds_slicing < choice.seconds_spilling;
  if (choice.slices) {
    plan.graph = std::move(sliced.graph);
    plan.labelling = std::move(sliced.labelling);
    plan.physical = std::move(sliced.physical);
    plan.peak_bytes = sliced.peak_bytes;
  } else if (std::isinf(choice.seconds_spilling)) {
    plan.shortfall = MemoryShortfall{names_of_outputs(plan.graph), working_bytes(plan.physical, 1), true};
    return;
  }
  plan.memory_choice = choice;
}

PathSummary summary(const EinGraph& bound, const EinGraph& ordered, const PathReport& report) {
  const auto after = flops_of(ordered);
  return {report, flops_of(bound).flops, after.flops, after.largest_result};
}

}  // namespace

OptimizedPlan optimize(const EinGraph& graph, const OptimizerOptions& given) {
  const Stopwatch watch;
  auto options = given;
  check_output_partitions(graph, options.output_partitions);
  OptimizedPlan plan;
  auto path_options = options.path;
  path_options.memory_limit = options.memory_limit;
  PathSearch paths(path_options);
  plan.graph = run_passes(graph, options.disabled_passes, plan.stages, paths);
  estimate_densities(plan.graph);
  plan.labelling = timed("decomposition", plan.stages, [&] { return choose_partitions(plan, options); });
  plan.parallelism = options.parallelism;
  timed("physical_plan", plan.stages, [&] { return lower(plan, options), 0; });
  if (options.memory_limit > 0 && plan.peak_bytes > static_cast<double>(options.memory_limit)) {
    const bool spills = options.spills && options.machine;
    timed("slicing", plan.stages,
          [&] { return spills ? choose_way_of_memory(plan, options) : slice(plan, options), 0; });
    if (options.spills && plan.shortfall && !plan.shortfall->for_calls &&
        calls_fit(plan.physical, static_cast<double>(options.memory_limit)))
      plan.shortfall.reset();
    validate(plan.graph, 2);
  }
  plan.path = summary(graph, plan.graph, paths.report());
  if (options.compare_strategies)
    plan.strategies = timed("comparison", plan.stages, [&] {
      return compare_strategies(plan.graph, options.strategy, aims_of(options), options.workers);
    });
  validate(plan.physical);
  plan.planning_seconds = watch.seconds();
  return plan;
}

}  // namespace eindb
