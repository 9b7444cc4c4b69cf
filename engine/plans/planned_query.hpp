#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/tensor_info.hpp"
#include "engine/plans/plan_source.hpp"
#include "engine/plans/query_plan.hpp"
#include "optimizer/optimizer.hpp"
#include "parser/ast.hpp"

namespace eindb {

struct LatestClusterPlan;  // engine/plans/cluster_plan.hpp

/// What a query's results are wanted as.
struct ResultRequest {
  std::optional<DType> dtype = {};           ///< of a query with one result: another element type than the query gives
  bool stored = false;                       ///< cut as stored tensors are
  WantedPartitions partitions = {};          ///< cut exactly so
  std::vector<ast::Identifier> wanted = {};  ///< results, or definitions, by name; empty: the query's results
  bool compare_strategies = false;           ///< with the plan's cost under every strategy
  bool for_workers = false;                  ///< to be run by workers, which have the memory limit each to itself
};

/// A query with a plan to run, now: the values of its parameters are the session's.
struct PlannedQuery {
  PlannedQuery(std::shared_ptr<const QueryPlan> shared_plan, std::shared_ptr<LatestClusterPlan> cluster_plan,
               PlanSource plan_source, double seconds)
      : shared(std::move(shared_plan)),
        for_cluster(std::move(cluster_plan)),
        query(shared->query),
        plan(shared->plan),
        planning_seconds(seconds),
        order_given(shared->order_given),
        source(plan_source) {}

  std::shared_ptr<const QueryPlan> shared;
  std::shared_ptr<LatestClusterPlan> for_cluster;  ///< of this query, shared with the cache
  const BoundQuery& query;                         ///< of `shared`, as the next two
  const OptimizedPlan& plan;
  double planning_seconds;  ///< binding and optimising, or finding the plan in the cache
  bool order_given;
  PlanSource source;

  std::size_t result_count() const { return query.results.size(); }
  const Vertex& output(std::size_t result = 0) const { return query.graph.vertex(query.graph.outputs()[result]); }
  const TileGrid& result_grid(std::size_t result = 0) const { return plan.result_grids[result]; }
};

/// A tensor of the catalog that gets the tiles of a result. It has the result's type and grid.
struct StoredResult {
  TensorInfo tensor;
  bool has_tiles = false;  ///< of before, which go; what the query reads of them is as it was before
};

}  // namespace eindb
