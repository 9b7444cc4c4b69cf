#include "optimizer/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "common/check.hpp"
#include "common/stopwatch.hpp"
#include "optimizer/cell_choice.hpp"
#include "optimizer/checkpoints.hpp"
#include "optimizer/contraction_slicer.hpp"
#include "optimizer/flops.hpp"
#include "optimizer/fragment_planner.hpp"
#include "optimizer/part_reads.hpp"
#include "optimizer/partitions/calibrated_model.hpp"
#include "optimizer/partitions/density.hpp"
#include "optimizer/partitions/worker_choice.hpp"
#include "optimizer/partitions/worker_count.hpp"
#include "optimizer/plan_memory.hpp"
#include "optimizer/recomputation.hpp"
#include "optimizer/rewrites/chain_fusion.hpp"
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

// Checks the prescribed partitions before any cost is computed with them.
void check_output_partitions(const EinGraph& graph, const WantedPartitions& wanted) {
  for (const auto output : graph.outputs())
    if (const auto* partition = wanted_of(graph, wanted, output)) TileGrid(graph.vertex(output).bound, *partition);
}

std::string names_of_outputs(const EinGraph& graph) {
  std::string names;
  for (const auto output : graph.outputs()) names += (names.empty() ? "" : ", ") + graph.vertex(output).name;
  return names;
}

// Aims for the model `transfers`, whose costs are elements moved.
DecompositionOptions aims_of(const OptimizerOptions& options) {
  return {options.parallelism, options.free_inputs, options.output_partitions};
}

// Chooses partition vectors by the model asked for. The other choices of `calibrated` (p, partitions) go into
// `options`, and its plan, where it is made, into `lowered`.
Labelling choose_partitions(OptimizedPlan& plan, OptimizerOptions& options, std::optional<Fragment>& lowered) {
  lowered.reset();
  if (options.workers > 0) return label_for_workers(plan.graph, options.strategy, aims_of(options), options.workers);
  if (!options.machine) return label(plan.graph, options.strategy, aims_of(options));
  auto choice = choose_calibrated(plan.graph, options.strategy, aims_of(options), *options.machine);
  options.parallelism = choice.parallelism;
  plan.fastest_parallelism = choice.fastest_parallelism;
  options.output_partitions = std::move(choice.output_partitions);
  plan.parallelism_candidates = std::move(choice.candidates);
  plan.least_bytes = choice.least_bytes;
  lowered = std::move(choice.fragment);
  return std::move(choice.labelling);
}

// Partition vectors for a graph rewritten for the memory limit, with p and the results' partitions unchanged.
Labelling label_again(const EinGraph& graph, const OptimizerOptions& options) {
  if (options.workers > 0) return label_for_workers(graph, options.strategy, aims_of(options), options.workers);
  auto aims = aims_of(options);
  if (!options.machine) return label(graph, options.strategy, aims);
  const CalibratedModel model(options.machine->figures, options.machine->threads);
  aims.model = &model;
  return label(graph, options.strategy, aims);
}

void lower_for_one_rank(OptimizedPlan& plan, const OptimizerOptions& options,
                        std::optional<Fragment> lowered = std::nullopt) {
  plan.physical =
      plan_of(lowered ? *std::move(lowered) : plan_fragment(plan.graph, plan.labelling, options.output_partitions));
  plan.peak_bytes = peak_bytes(plan.fragment());
}

// The grids as they are wanted, otherwise those that vertices give.
std::vector<TileGrid> result_grids(const OptimizedPlan& plan, const OptimizerOptions& options) {
  std::vector<TileGrid> grids;
  for (std::size_t n = 0; plan.is_lowered() && n < plan.fragment().result_count(); ++n) {
    const auto& delivered = plan.fragment().sink(n).grid;
    const auto* wanted = wanted_of(plan.graph, options.output_partitions, plan.graph.outputs()[n]);
    grids.push_back(wanted != nullptr ? TileGrid(delivered.shape(), *wanted) : delivered);
  }
  if (plan.is_lowered()) return grids;
  for (const auto output : plan.graph.outputs()) {
    const auto& vertex = plan.graph.vertex(output);
    const auto* wanted = wanted_of(plan.graph, options.output_partitions, output);
    const auto& given = plan.labelling.vertices[output.index()].partition;
    grids.emplace_back(vertex.bound, wanted != nullptr ? *wanted : given.project(vertex.einsum.output));
  }
  return grids;
}

// Replaces the parts of `plan` that differ between ways to keep to the limit by those of `other`.
void take(OptimizedPlan& plan, OptimizedPlan&& other) {
  CHECK(other.labelling.vertices.size() == other.graph.size(), "a plan that is taken is complete");
  plan.graph = std::move(other.graph);
  plan.labelling = std::move(other.labelling);
  plan.physical = std::move(other.physical);
  plan.peak_bytes = other.peak_bytes;
  plan.recomputed = std::move(other.recomputed);
}

// Slices the contractions of a plan that does not fit. A plan holds more than its contractions, above all repartitions.
// So if the sliced plan is still too large, the contractions get a smaller budget, then a larger one again, as long as
// fewer slices would save flops worth the planning. If no budget fits, the plan with the least memory stands.
void slice(OptimizedPlan& plan, const OptimizerOptions& options) {
  constexpr int kTries = 8;
  constexpr double kLeastStep = 0.8;
  constexpr double kCheapEnough = 1.05;
  const auto limit = static_cast<double>(options.memory_limit);
  const auto unsliced = plan.graph;
  const auto least_flops = flops_of(unsliced).flops;
  double flops = least_flops;
  double fits = 0;  // the largest budget of the contractions that is known to fit
  double exceeds = limit;
  double target = limit;
  for (int n = 0; n < kTries && fits < kLeastStep * exceeds; ++n) {
    auto [graph, shortfall] = slice_contractions(unsliced, target);
    if (n == 0) plan.shortfall = std::move(shortfall);
    OptimizedPlan tried;
    tried.graph = std::move(graph);
    tried.labelling = label_again(tried.graph, options);
    lower_for_one_rank(tried, options);
    const auto tried_flops = flops_of(tried.graph).flops;
    const bool fit = tried.peak_bytes <= limit;
    (fit ? fits : exceeds) = target;
    target = fits > 0 ? std::sqrt(fits * exceeds) : target * std::min(kLeastStep, limit / tried.peak_bytes);
    if (plan.peak_bytes > limit ? tried.peak_bytes < plan.peak_bytes : fit && tried_flops < flops) {
      tried.recomputed = plan.recomputed;
      take(plan, std::move(tried));
      flops = tried_flops;
    }
    if (plan.peak_bytes <= limit && flops <= kCheapEnough * least_flops) return;
  }
}

// Workers have limits of their own.
PlanningTerms terms_of(const OptimizerOptions& options) {
  if (options.workers > 0) return {.workers = options.workers};
  return {.memory_limit = options.machine ? options.machine->memory_limit : options.memory_limit};
}

double memory_of(const OptimizerOptions& options) {
  const auto limit = options.machine ? options.machine->memory_limit : options.memory_limit;
  return limit > 0 ? static_cast<double>(limit) : std::numeric_limits<double>::infinity();
}

bool may_use_cells(const EinGraph& graph, const OptimizerOptions& options) {
  return !options.disabled_passes.contains(std::string(kCellChoice)) && may_hold_cells(graph);
}

// Whether some chain reads operands in place of copies of their parts.
bool reads_windows(const EinGraph& graph) {
  return std::any_of(graph.chains().begin(), graph.chains().end(), [&](const FusedChain& chain) {
    return std::any_of(chain.body.begin(), chain.body.end(),
                       [&](VertexId id) { return id != chain.result && is_window_of(graph, graph.vertex(id)); });
  });
}

EinGraph with_cells(EinGraph graph, const OptimizerOptions& options) {
  if (!may_use_cells(graph, options)) return graph;
  const auto figures = options.machine ? options.machine->figures : built_in_figures();
  const CalibratedModel model(figures, options.machine ? options.machine->threads : 1);
  // Half of the memory, as what cells are joined with is there at the same time.
  auto chosen =
      choose_cells(std::move(graph), model,
                   {options.always_cells, memory_of(options) / 2, options.path.observed, options.dense_results});
  return options.disabled_passes.contains("chain_fusion") ? chosen : fuse_chains(chosen);
}

// A plan that computes values twice instead of holding them; empty if that does not lower the peak.
std::optional<OptimizedPlan> recompute(const OptimizedPlan& plan, const OptimizerOptions& options) {
  if (options.disabled_passes.contains(std::string(kRecomputation))) return std::nullopt;
  auto [graph, names] = recompute_values(plan.graph, static_cast<double>(options.memory_limit) / plan.peak_bytes);
  if (names.empty()) return std::nullopt;
  OptimizedPlan tried;
  tried.graph = fuse_again(graph, options.disabled_passes);
  estimate_densities(tried.graph);
  tried.graph = with_cells(std::move(tried.graph), options);
  tried.labelling = label_again(tried.graph, options);
  lower_for_one_rank(tried, options);
  tried.recomputed = std::move(names);
  if (tried.peak_bytes >= plan.peak_bytes) return std::nullopt;
  return tried;
}

// Makes a plan fit that must not spill or has no predicted seconds.
void keep_to_limit(OptimizedPlan& plan, const OptimizerOptions& options) {
  if (auto recomputed = recompute(plan, options)) take(plan, *std::move(recomputed));
  if (plan.peak_bytes > static_cast<double>(options.memory_limit)) slice(plan, options);
}

double least_bytes(const OptimizedPlan& plan, const OptimizerOptions& options) {
  return least_bytes(plan.fragment(), options.least_memory, static_cast<double>(options.memory_limit));
}

// The prediction with a scratch file for tiles beyond the limit; infinite seconds if the plan cannot run even so.
SpillingSeconds spilling(const OptimizedPlan& plan, const OptimizerOptions& options) {
  CHECK(options.machine.has_value(), "seconds are predicted for a machine");
  const CalibratedModel model(options.machine->figures, options.machine->threads);
  auto spilling = seconds_in(plan.fragment(), plan.labelling.total_cost, model, *options.machine);
  if (spilling.least_bytes > static_cast<double>(options.memory_limit))
    spilling.seconds = std::numeric_limits<double>::infinity();
  return spilling;
}

// The fastest sliced plan over a ladder of slicing budgets. The ladder does not depend on the limit at hand except for
// its top, so that more memory only adds candidates. If no plan fits, the one with the least memory.
OptimizedPlan best_in_slices(const OptimizedPlan& plan, OptimizerOptions options) {
  constexpr double kFirst = 7.0 / 8 * (1 << 20);
  constexpr double kStep = 2;
  constexpr double kSmallestPart = 1.0 / 4096;  // of the bytes held without slices
  constexpr double kMostWork = 16;              // times the flops without slices
  const auto limit = static_cast<double>(options.memory_limit);
  const auto least_flops = flops_of(plan.graph).flops;
  OptimizedPlan best = plan;
  double seconds = std::numeric_limits<double>::infinity();
  double flops = least_flops;
  options.parallelism = plan.fastest_parallelism;
  for (double target = kFirst * std::exp2(std::floor(std::log2(limit / kFirst)));
       plan.peak_bytes > 0 && target >= kSmallestPart * plan.peak_bytes; target /= kStep) {
    auto graph = slice_contractions(plan.graph, target).graph;
    const auto sliced_flops = flops_of(graph).flops;
    if (graph.sliced().empty() || sliced_flops == flops) continue;
    flops = sliced_flops;
    if (flops > kMostWork * least_flops) break;
    OptimizedPlan tried;
    tried.graph = std::move(graph);
    tried.labelling = label_again(tried.graph, options);
    lower_for_one_rank(tried, options);
    const auto taken =
        tried.peak_bytes <= limit ? spilling(tried, options).seconds : std::numeric_limits<double>::infinity();
    if (std::isinf(seconds) ? tried.peak_bytes < best.peak_bytes : taken < seconds) {
      tried.recomputed = plan.recomputed;
      take(best, std::move(tried));
      seconds = taken;
    }
  }
  return best;
}

// Decides how a plan that does not fit keeps to the limit: spilling as it is, slices or recomputation. Sets the
// shortfall if none of them can run.
void choose_way_of_memory(OptimizedPlan& plan, const OptimizerOptions& options) {
  constexpr auto kCannotBeDone = std::numeric_limits<double>::infinity();
  // Scratch files mostly stay in the page cache and are faster than the figure `scratch`. Measured: for ten layers of
  // TANH recomputation is predicted to take 0.66 of the time and took 1.2; for ten layers of squares 0.39, and took
  // 0.75.
  constexpr double kWorthwhile = 0.6;
  const auto limit = static_cast<double>(options.memory_limit);
  const auto as_it_is = spilling(plan, options);
  MemoryChoice choice;
  choice.spilled_bytes = as_it_is.written;
  choice.seconds_spilling = as_it_is.seconds;

  auto sliced = best_in_slices(plan, options);
  const auto in_slices = spilling(sliced, options);
  choice.seconds_slicing = sliced.peak_bytes <= limit ? in_slices.seconds : kCannotBeDone;

  auto recomputed = recompute(plan, options);
  const auto rest = recomputed ? spilling(*recomputed, options) : SpillingSeconds{kCannotBeDone, 0, kCannotBeDone};
  choice.seconds_recomputing = rest.seconds;

  if (std::isinf(std::min({choice.seconds_spilling, choice.seconds_slicing, choice.seconds_recomputing}))) {
    auto least = std::min(as_it_is.least_bytes, rest.least_bytes);
    if (options.machine->spills) least = std::min(least, plan.least_bytes);
    plan.shortfall = MemoryShortfall{names_of_outputs(plan.graph), least, true};
    return;
  }
  const auto others = std::min(choice.seconds_spilling, choice.seconds_slicing);
  if (recomputed && choice.seconds_recomputing < kWorthwhile * others) {
    choice.way = MemoryWay::Recompute;
    choice.spilled_bytes = rest.written;
    take(plan, *std::move(recomputed));
  } else if (choice.seconds_slicing < choice.seconds_spilling) {
    choice.way = MemoryWay::Slice;
    take(plan, std::move(sliced));
  }
  plan.memory_choice = choice;
}

PathOptions path_options(const OptimizerOptions& options) {
  auto path = options.path;
  path.memory_limit = options.memory_limit;
  path.by_cells = !options.disabled_passes.contains(std::string(kCellChoice));
  return path;
}

PathSummary summary(const EinGraph& bound, const EinGraph& ordered, const PathReport& report) {
  const auto after = flops_of(ordered);
  return {report, flops_of(bound).flops, after.flops, after.largest_result};
}

// Spares a plan copies of operands that kernels read where they lie.
void read_in_place(OptimizedPlan& plan, const OptimizerOptions& options) {
  if (options.disabled_passes.contains(std::string(kPartReads))) return;
  auto fragment = read_in_parts(plan.fragment(), memory_of(options), options.machine ? options.machine->threads : 1);
  if (!fragment) return;
  plan.physical = plan_of(*std::move(fragment));
  plan.peak_bytes = peak_bytes(plan.fragment());
  plan.least_bytes = options.spills ? least_bytes(plan, options) : 0;
}

// Last, as it names nodes of the plan.
void add_checkpoints(OptimizedPlan& plan, const OptimizerOptions& options) {
  if (options.checkpoints == OptimizerOptions::Checkpoints::None) return;
  const auto figures = options.machine ? options.machine->figures : built_in_figures();
  const CalibratedModel model(figures, options.machine ? options.machine->threads : 1);
  const bool always = options.checkpoints == OptimizerOptions::Checkpoints::All;
  auto checkpoints = choose_checkpoints(plan.graph, plan.fragment(), model, always);
  if (checkpoints.empty()) return;
  auto fragment = plan.fragment();
  fragment.checkpoints = std::move(checkpoints);
  plan.physical = plan_of(std::move(fragment));
}

// Changes a lowered plan that exceeds the memory limit.
void keep_to_memory(OptimizedPlan& plan, const OptimizerOptions& options) {
  const auto limit = static_cast<double>(options.memory_limit);
  const bool spills = options.spills && options.machine;
  const auto least = options.spills ? least_bytes(plan, options) : 0;
  if (options.memory_limit > 0 && (plan.peak_bytes > limit || (spills && least > limit))) {
    timed("memory", plan.stages,
          [&] { return spills ? choose_way_of_memory(plan, options) : keep_to_limit(plan, options), 0; });
    if (options.spills && plan.shortfall && !plan.shortfall->for_calls && least_bytes(plan, options) <= limit)
      plan.shortfall.reset();
    validate(plan.graph, 2);
    plan.least_bytes = least_bytes(plan, options);
  } else {
    plan.least_bytes = least;
  }
  if (spills && options.memory_limit > 0) plan.seconds = spilling(plan, options).seconds;
}

}  // namespace

std::string_view name_of(MemoryWay way) {
  switch (way) {
    case MemoryWay::Spill: return "scratch";
    case MemoryWay::Slice: return "slices";
    case MemoryWay::Recompute: return "recomputation";
  }
  return "";
}

Optimization::Optimization(const EinGraph& bound, OptimizerOptions options)
    : bound_(bound), options_(std::move(options)), paths_(path_options(options_)) {
  if (options_.machine) options_.machine->least_memory = options_.least_memory;
  check_output_partitions(bound, options_.output_partitions);
}

void Optimization::rewrite() {
  plan_.graph =
      run_passes(PassStage::Rewrite, bound_, options_.disabled_passes, plan_.stages, paths_, terms_of(options_));
}

void Optimization::order() {
  const auto rewritten = plan_.graph;
  plan_.graph =
      run_passes(PassStage::Order, rewritten, options_.disabled_passes, plan_.stages, paths_, terms_of(options_));
  plan_.path = summary(bound_, plan_.graph, paths_.report());
  estimate_densities(plan_.graph);
  const bool may_use_cells = eindb::may_use_cells(plan_.graph, options_);
  if (may_use_cells || reads_windows(plan_.graph)) plainer_ = {rewritten, options_.output_partitions};
  if (!may_use_cells) return;
  plan_.graph = timed(std::string(kCellChoice), plan_.stages, [&] { return with_cells(plan_.graph, options_); });
}

void Optimization::label() {
  const auto& of_cells = options_.partitions_of_cells;
  for (std::size_t n = 0; n < of_cells.size() && n < options_.output_partitions.size(); ++n)
    if (of_cells[n] && plan_.graph.vertex(plan_.graph.outputs()[n]).cells) options_.output_partitions[n] = of_cells[n];
  if (options_.workers > 0) {
    const auto wanted = options_.call_for_each_worker ? std::nullopt : std::optional(options_.parallelism);
    const auto count = count_workers(plan_.graph, options_.workers, wanted);
    options_.workers = count.workers;
    options_.parallelism = count.calls;
  }
  plan_.labelling = timed("decomposition", plan_.stages, [&] { return choose_partitions(plan_, options_, lowered_); });
  plan_.parallelism = options_.parallelism;
  plan_.workers = options_.workers;
}

void Optimization::lower() {
  CHECK(plan_.labelling.vertices.size() == plan_.graph.size(), "a graph is labelled before it is lowered");
  if (options_.lowers) {
    timed("physical_plan", plan_.stages,
          [&] { return lower_for_one_rank(plan_, options_, std::exchange(lowered_, std::nullopt)), 0; });
    keep_to_memory(plan_, options_);
    // Dense tiles can be worked on in smaller parts, and what windows show can be copied in parts.
    if (plan_.shortfall && plainer_) {
      plan_.graph = std::move(plainer_->rewritten);
      options_.output_partitions = std::move(plainer_->output_partitions);
      options_.disabled_passes.emplace(kCellChoice);
      options_.disabled_passes.emplace("chain_fusion");
      paths_.forget_cells();
      plan_.shortfall.reset();
      plan_.memory_choice.reset();
      plan_.recomputed.clear();
      order();
      label();
      lower_for_one_rank(plan_, options_, std::exchange(lowered_, std::nullopt));
      keep_to_memory(plan_, options_);
    }
    timed(std::string(kPartReads), plan_.stages, [&] { return read_in_place(plan_, options_), 0; });
    add_checkpoints(plan_, options_);
    validate(plan_.physical);
  }
  plan_.result_grids = result_grids(plan_, options_);
}

OptimizedPlan Optimization::take() {
  CHECK(plan_.result_grids.size() == bound_.outputs().size(), "every result of a statement is delivered");
  if (options_.compare_strategies)
    plan_.strategies = timed("comparison", plan_.stages, [&] {
      return compare_strategies(plan_.graph, options_.strategy, aims_of(options_), options_.workers);
    });
  plan_.planning_seconds = watch_.seconds();
  return std::move(plan_);
}

OptimizedPlan optimize(const EinGraph& graph, const OptimizerOptions& options) {
  Optimization optimization(graph, options);
  optimization.rewrite();
  optimization.order();
  optimization.label();
  optimization.lower();
  return optimization.take();
}

}  // namespace eindb
