#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>

#include "engine/plans/place_choice.hpp"
#include "engine/tensors/tile_endpoints.hpp"
#include "executor/kept_runs.hpp"
#include "optimizer/optimizer.hpp"
#include "parser/binder/binder.hpp"
#include "plan/cell_product.hpp"
#include "plan/physical_plan.hpp"
#include "tensor/observed_cells.hpp"

namespace eindb {

/// The complete result of planning a query. Immutable but for what executions keep, and for the cells
/// that they find; shared by the cache and the running queries.
struct QueryPlan {
  BoundQuery query;
  OptimizedPlan plan;
  bool order_given = false;          ///< by USING PATH with pairs or 'left', or by nested subscripts
  std::set<std::size_t> parameters;  ///< the numbers of the parameters whose values are filled in at execution
  double predicted_seconds = 0;      ///< on this machine; computed if an admission gate is asked before queries run
  std::optional<PlaceChoice> place;  ///< set where the query could run here or at workers, and nobody has said where
  std::shared_ptr<ObservedCells> observed = nullptr;  ///< what runs find, for the next plan; null: nobody asks for it
  std::uint64_t observed_before = 0;                  ///< version of `observed` that the plan was made with
  ComputedProducts computed = {};  ///< what inputs stand for that were computed in the same run, for a rest of a plan
  mutable KeptRuns runs;           ///< of `plan`, where there are no parameters to fill in
  mutable KeptInputs inputs;       ///< what the last run read; for the thread of the session whose plan it is
};

/// Whether runs have found other cells than the plan was made for.
inline bool is_outdated(const QueryPlan& plan) {
  return plan.observed != nullptr && plan.observed->version() != plan.observed_before;
}

/// Whether the values of index parameters lie within the extents.
bool serves_indices(const QueryPlan& plan, const std::vector<ParameterValue>& values);

/// Returns the plan with constants in place of its parameters; values[n] is the value of parameter $n + 1.
PhysicalPlan with_values(PhysicalPlan plan, const std::vector<ParameterValue>& values);

}  // namespace eindb
