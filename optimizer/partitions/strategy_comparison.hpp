#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/partitions/strategy.hpp"
#include "optimizer/partitions/worker_choice.hpp"

namespace eindb {

/// The cost of a graph under one partitioning strategy.
struct StrategyCosts {
  Strategy strategy;
  std::string not_applicable;  ///< the reason if the strategy does not apply, with all figures zero; else empty
  double cost_join = 0;
  double cost_agg = 0;
  double cost_repart = 0;  ///< includes moving the output to its prescribed partition
  double total_cost = 0;
  double fewest_calls = 0;  ///< kernel calls of the vertex with the fewest
  double most_calls = 0;
  std::optional<double> received;  ///< elements that workers receive from each other; set for a plan on workers
  std::optional<double> bytes;     ///< that all ranks receive in all; set where these are counted
};

/// Costs of all strategies under one model (EXPLAIN (COMPARE)), EinDecomp first; the strategy of the kind of `chosen`
/// has its labels. With workers, each strategy has the vectors of its plan for workers (label_for_workers) and is
/// placed. EinDecomp then minimises the elements received, so another strategy may cost less by the model. Throws like
/// label(), except that a strategy whose labels do not occur is listed as not applicable.
std::vector<StrategyCosts> compare_strategies(const EinGraph& graph, const Strategy& chosen,
                                              const DecompositionOptions& options, std::int64_t workers = 0);
/// For workers that hold the tiles of stored tensors as `inputs` says, with the bytes of each whole plan by `count`.
std::vector<StrategyCosts> compare_strategies(const EinGraph& graph, const Strategy& chosen,
                                              const DecompositionOptions& options, const InputPlaces& inputs,
                                              const CountedBytes& count = {});

}  // namespace eindb
