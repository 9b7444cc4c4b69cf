#include "engine/query/planning_options.hpp"

#include <algorithm>
#include <utility>

#include "executor/least_memory.hpp"

namespace eindb {
namespace {

// The requested partitions, and the default partitions of stored tensors for results to be stored.
WantedPartitions wanted_partitions(const BoundQuery& query, const Settings& settings, const ResultRequest& request) {
  auto wanted = request.partitions;
  wanted.resize(query.results.size());
  if (!request.stored) return wanted;
  const auto sharing = request.for_workers ? std::max<std::int64_t>(1, settings.workers()) : 1;
  for (std::size_t n = 0; n < wanted.size(); ++n) {
    const auto& output = query.graph.vertex(query.graph.outputs()[n]);
    const StoredType type(output.dtype, request.encoding);
    if (!wanted[n]) wanted[n] = default_partition(output.bound, type, settings.tile_bytes(), sharing);
  }
  return wanted;
}

// Results of cells are stored at workers in few large tiles.
WantedPartitions partitions_of_cells(const BoundQuery& query, const Settings& settings, const ResultRequest& request) {
  WantedPartitions wanted(query.results.size());
  if (!request.stored || !request.for_workers || settings.tile_bytes_is_set()) return wanted;
  const auto sharing = std::max<std::int64_t>(1, settings.workers());
  const auto memory = static_cast<double>(settings.memory_for_tiles());
  for (std::size_t n = 0; n < wanted.size(); ++n) {
    if (n < request.partitions.size() && request.partitions[n]) continue;
    const auto& output = query.graph.vertex(query.graph.outputs()[n]);
    const auto bytes = largest_tile_of_cells(output.bound, output.dtype, memory);
    wanted[n] = default_partition(output.bound, output.dtype, static_cast<std::int64_t>(bytes), sharing);
  }
  return wanted;
}

// The memory that contractions are sliced to fit. 0 disables slicing; it is used when workers run the query, since they
// spill to scratch files of their own.
std::int64_t memory_to_plan_with(const Settings& settings, bool for_workers) {
  return settings.slicing() && !for_workers ? settings.memory_for_tiles() : 0;
}

std::int64_t workers_of(const Settings& settings, const ResultRequest& request) {
  return request.without_workers ? 0 : settings.workers();
}

// A factor of 1 is always reached.
OptimizerOptions::Checkpoints checkpoints_of(const Settings& settings) {
  using Checkpoints = OptimizerOptions::Checkpoints;
  if (settings.replan_factor() == 0) return Checkpoints::None;
  return settings.replan_factor() == 1 ? Checkpoints::All : Checkpoints::Uncertain;
}

// Sets up costs in seconds on this machine, and lets the optimizer choose the settings that the user has not set.
void use_machine(OptimizerOptions& options, const SessionUser& user, const ResultRequest& request) {
  const auto& settings = user.settings;
  options.machine =
      MachineOptions{.figures = user.machine(),
                     .threads = settings.threads(),
                     .memory_limit = settings.memory_for_tiles(),
                     .choose_parallelism = !settings.parallelism_is_set() && workers_of(settings, request) == 0,
                     .spills = !request.for_workers};
  if (!request.stored || settings.tile_bytes_is_set()) return;
  options.machine->stored_partitions = std::exchange(options.output_partitions, request.partitions);
  options.machine->stored_encoding = request.encoding;
}

}  // namespace

Strategy strategy_of(const BoundQuery& query, const Settings& settings) {
  return query.cuts.empty() ? settings.strategy() : Strategy{Strategy::Kind::Partition, query.cuts};
}

OptimizerOptions planning_options(const BoundQuery& query, const SessionUser& user, const StatementContext& statement,
                                  const ResultRequest& request) {
  const auto& settings = user.settings;
  OptimizerOptions options;
  options.parallelism = settings.parallelism(workers_of(settings, request));
  options.path = settings.path();
  options.path.cancellation = &statement.cancellation();
  options.path.progress = [&statement](std::int64_t done, std::int64_t total) {
    statement.report("contraction order", done, total);
  };
  if (!query.path_optimizer.empty()) options.path.optimizer = parse_path_optimizer(query.path_optimizer);
  if (query.path_weight) options.path.objective = {.weight = *query.path_weight};
  if (request.for_workers) options.workers = settings.workers();
  options.call_for_each_worker = !settings.parallelism_is_set();
  options.strategy = strategy_of(query, settings);
  options.free_inputs = settings.free_inputs();
  options.always_cells = settings.tile_format() == FormatChoice::Sparse;
  options.disabled_passes = settings.disabled_passes();
  options.checkpoints = checkpoints_of(settings);
  options.compare_strategies = request.compare_strategies;
  options.lowers = !request.for_workers;
  options.memory_limit = memory_to_plan_with(settings, request.for_workers);
  options.spills = !request.for_workers;
  options.least_memory = [](const Fragment& plan) { return static_cast<double>(least_memory(plan)); };
  options.output_partitions = wanted_partitions(query, settings, request);
  if (settings.calibrated(workers_of(settings, request))) use_machine(options, user, request);
  options.partitions_of_cells = partitions_of_cells(query, settings, request);
  if (options.machine && options.strategy.kind == Strategy::Kind::Partition)
    options.machine->choose_parallelism = false;  // the cuts that are given make the calls that they make
  return options;
}

}  // namespace eindb
