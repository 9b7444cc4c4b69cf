#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/tensor_info.hpp"
#include "common/check.hpp"
#include "engine/plans/plan_source.hpp"
#include "engine/plans/query_plan.hpp"
#include "optimizer/optimizer.hpp"
#include "parser/ast.hpp"
#include "tensor/stored_type.hpp"

namespace eindb {

struct LatestClusterPlan;  // engine/plans/cluster_plan.hpp

/// The requested form of a query's results.
struct ResultRequest {
  std::optional<DType> dtype = {};      ///< another element type than the query gives; only for a query with one result
  bool stored = false;                  ///< in the partitions of stored tensors
  Encoding encoding = Encoding::Plain;  ///< of results that are stored
  WantedPartitions partitions = {};     ///< in exactly these partitions
  std::vector<ast::Identifier> wanted = {};  ///< names of results or definitions; empty: the query's results
  bool compare_strategies = false;           ///< also cost the plan under every strategy
  bool for_workers = false;                  ///< for workers, each with the whole memory limit to itself
  bool without_workers = false;              ///< as where SET workers = 0, whatever the session's number is
};

/// A query with a plan that is ready to run. The values of its parameters are the session's.
struct PlannedQuery {
  PlannedQuery(std::shared_ptr<const QueryPlan> shared_plan, std::shared_ptr<LatestClusterPlan> cluster_plan,
               PlanSource plan_source, double seconds)
      : shared(std::move(shared_plan)),
        for_cluster(std::move(cluster_plan)),
        query(shared->query),
        plan(shared->plan),
        planning_seconds(seconds),
        order_given(shared->order_given),
        source(plan_source) {
    CHECK(query.results.size() == plan.result_grids.size(), "every result of a planned query has a grid");
  }

  std::shared_ptr<const QueryPlan> shared;
  std::shared_ptr<LatestClusterPlan> for_cluster;  ///< of this query, shared with the cache
  const BoundQuery& query;                         ///< refers to `shared`, like `plan`
  const OptimizedPlan& plan;
  double planning_seconds;  ///< of binding and optimising, or of finding the plan in the cache
  bool order_given;
  PlanSource source;

  std::size_t result_count() const { return query.results.size(); }
  const Vertex& output(std::size_t result = 0) const { return query.graph.vertex(query.graph.outputs()[result]); }
  const TileGrid& result_grid(std::size_t result = 0) const { return plan.result_grids[result]; }
  /// Whether the tiles of a result come as tiles of cells.
  bool holds_cells(std::size_t result = 0) const {
    return plan.graph.vertex(plan.graph.outputs()[result]).cells.has_value();
  }
};

/// A tensor of the catalog that receives the tiles of a result. It has the result's type and as many parts.
struct StoredResult {
  TensorInfo tensor;
  bool has_tiles = false;  ///< old tiles that the new ones replace; the query still reads them as they were
};

}  // namespace eindb
