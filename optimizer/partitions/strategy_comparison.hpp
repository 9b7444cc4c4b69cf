#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/partitions/strategy.hpp"

namespace eindb {

/// The cost of a graph under one partitioning strategy.
struct StrategyCosts {
  Strategy strategy;
  std::string not_applicable;  ///< why it labels nothing, all else being zero then; empty: it does
  double cost_join = 0;
  double cost_agg = 0;
  double cost_repart = 0;  ///< with that of the output
  double total_cost = 0;
  double fewest_calls = 0;  ///< kernel calls of the vertex that makes fewest
  double most_calls = 0;
  std::optional<double> received;  ///< elements that workers receive from each other, of a plan for workers
};

/// All strategies under one model (EXPLAIN (COMPARE)), EinDecomp first; of the kind of `chosen`, with its labels. For
/// workers, if there are any, each with the vectors that its plan has (label_for_workers), and placed: EinDecomp's are
/// those by which they receive the least, so that others may cost less by the model.
/// Throws as label() does, but for a strategy without its labels, which is listed as not applicable.
std::vector<StrategyCosts> compare_strategies(const EinGraph& graph, const Strategy& chosen,
                                              const DecompositionOptions& options, std::int64_t workers = 0);

}  // namespace eindb
