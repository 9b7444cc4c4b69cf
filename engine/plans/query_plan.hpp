#pragma once

#include <cstddef>
#include <set>

#include "optimizer/optimizer.hpp"
#include "parser/binder/binder.hpp"
#include "plan/distributed_plan.hpp"

namespace eindb {

/// All that planning found out about a query. Immutable and shared: between the cache and those who run it.
struct QueryPlan {
  BoundQuery query;
  OptimizedPlan plan;
  bool order_given = false;          ///< by USING PATH with pairs or 'left', or by nested subscripts
  std::set<std::size_t> parameters;  ///< numbers of those whose values are put in when it runs
  double predicted_seconds = 0;      ///< on this machine, where somebody is asked before queries run
};

/// Whether the values of parameters that are indices lie in the extents.
bool serves_indices(const QueryPlan& plan, const std::vector<ParameterValue>& values);

/// The plan with constants in place of its parameters; value n is that of parameter $n + 1.
DistributedPlan with_values(DistributedPlan plan, const std::vector<ParameterValue>& values);

}  // namespace eindb
