#include "engine/plans/cluster_plan.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "common/check.hpp"
#include "engine/plans/query_plan.hpp"
#include "optimizer/partitions/placement.hpp"
#include "optimizer/partitions/worker_choice.hpp"
#include "plan/tile_moves.hpp"
#include "tensor/tile_placement.hpp"

namespace eindb {
namespace {

// Plans the same query for the same ranks by different partition vectors.
class ClusterPlanner {
 public:
  ClusterPlanner(const QueryPlan& query, const ClusterTerms& terms, std::span<const TileHolders> holders)
      : plan_(query.plan),
        terms_(terms),
        holders_(holders),
        inputs_(plan_.graph, holders_by_vertex(plan_.graph, holders), terms.shape.computing) {
    CHECK(terms.stored.size() == plan_.result_grids.size(), "it is known of each result where it is wanted");
    for (std::size_t n = 0; n < terms.stored.size(); ++n) results_.push_back({plan_.result_grids[n], terms.stored[n]});
  }

  // The vectors of the query's plan, if it has the same parallelism, were chosen without knowing where tiles lie.
  Labelling labelling() const {
    const bool is_alike = plan_.parallelism == terms_.parallelism;
    if (is_alike && terms_.strategy.kind != Strategy::Kind::EinDecomp) return plan_.labelling;
    const bool are_newly_written =
        plan_.workers == terms_.shape.computing &&
        holders_by_vertex(plan_.graph, holders_) == newly_written(plan_.graph, plan_.workers);
    return label_for_workers(plan_.graph, terms_.strategy, options(), inputs_,
                             {.count = counted(),
                              .known = is_alike ? &plan_.labelling : nullptr,
                              .is_for_same_places = is_alike && are_newly_written});
  }

  PhysicalPlan steps(const Labelling& labelling) const {
    CHECK(labelling.vertices.size() == plan_.graph.size(), "every vertex is labelled before it is placed");
    return plan_for_ranks(plan_.graph, labelling, place(plan_.graph, labelling, inputs_), terms_.shape, results_);
  }

  std::vector<StrategyCosts> comparison() const {
    return compare_strategies(plan_.graph, terms_.strategy, options(), inputs_, counted());
  }

 private:
  DecompositionOptions options() const { return {terms_.parallelism, false, {}}; }
  CountedBytes counted() const {
    return [this](const Labelling& labelling) { return bytes_of(steps(labelling)); };
  }

  // By all ranks. Which workers have room for results, and further copies of these, make no difference between vectors.
  double bytes_of(const PhysicalPlan& steps) const {
    std::vector<TileHolders> lists(holders_.begin(), holders_.end());
    std::vector<Rank> workers(steps.coordinator);
    std::iota(workers.begin(), workers.end(), Rank{0});
    for (std::size_t n = 0; n < results_.size(); ++n)
      if (results_[n].stored) lists.push_back(holders_of_result(steps, n, results_[n].grid, workers, 1));
    double bytes = 0;
    for (std::size_t n = 0; n < steps.steps.size(); ++n) {
      const auto received = bytes_received(steps, StepId(n), lists);
      bytes = std::accumulate(received.begin(), received.end(), bytes);
    }
    return bytes;
  }

  const OptimizedPlan& plan_;
  const ClusterTerms& terms_;
  std::span<const TileHolders> holders_;
  InputPlaces inputs_;
  std::vector<DistributedResult> results_;
};

// The first worker that has the block of the tile, or most of it if tiles do not lie in blocks; nullopt if tiles are
// larger than blocks.
std::optional<Rank> maker_of(const BlockPlacement& blocks, std::size_t workers, const TileGrid& grid,
                             std::int64_t tile) {
  auto block = grid.key_of(tile);
  for (std::size_t d = 0; d < block.size(); ++d) {
    if (grid.partition()[d] < blocks.parts[d]) return std::nullopt;
    const auto range = grid.range(d, block[d]);
    const auto extent = grid.shape()[d];
    block[d] = extent == 0 ? 0 : part_of(extent, blocks.parts[d], range.begin + range.size / 2);
  }
  for (std::size_t rank = 0; rank < workers; ++rank)
    if (blocks.at[rank] == block) return static_cast<Rank>(rank);
  return std::nullopt;
}

}  // namespace

std::vector<PlannedInput> planned_inputs(const QueryPlan& query) {
  const auto& graph = query.plan.graph;
  std::vector<PlannedInput> inputs;
  for (const auto& scan : scanned_inputs(graph)) {
    const auto& stored = *graph.vertex(scan.vertex).stored;
    if (scan.list == inputs.size()) inputs.emplace_back(stored);
    inputs.at(scan.list).add(stored);
  }
  return inputs;
}

InputHolders holders_by_vertex(const EinGraph& graph, std::span<const TileHolders> holders) {
  InputHolders out(graph.size());
  for (const auto& scan : scanned_inputs(graph)) {
    CHECK(scan.list < holders.size(), "every input of a plan has a list of holders");
    out[scan.vertex.index()] = holders_of_input(*graph.vertex(scan.vertex).stored, holders[scan.list]);
  }
  return out;
}

std::shared_ptr<const ClusterPlan> plan_for_cluster(const QueryPlan& query, ClusterTerms terms,
                                                    std::span<const TileHolders> holders) {
  const ClusterPlanner planner(query, terms, holders);
  auto labelling = planner.labelling();
  auto plan = planner.steps(labelling);
  return std::make_shared<const ClusterPlan>(ClusterPlan{std::move(terms), std::move(labelling), std::move(plan)});
}

std::vector<StrategyCosts> compare_for_cluster(const QueryPlan& query, const ClusterTerms& terms,
                                               std::span<const TileHolders> holders) {
  return ClusterPlanner(query, terms, holders).comparison();
}

TileHolders holders_of_result(const PhysicalPlan& plan, std::size_t result, const TileGrid& grid,
                              std::span<const Rank> stores, std::size_t replicas) {
  const TilePlacement fallback(grid, stores.size(), replicas);
  CHECK(result < plan.results.size(), "a stored result is one of the plan's");
  const auto& made = plan.step(inputs_of(plan.step(plan.results[result])).front());
  const auto* blocks = std::get_if<BlockPlacement>(&made.placement);
  TileHolders holders;
  for (std::int64_t tile = 0; tile < grid.tile_count(); ++tile) {
    auto places = fallback.of(tile);  // numbers in `stores`
    const auto maker = blocks == nullptr ? std::nullopt : maker_of(*blocks, plan.coordinator, grid, tile);
    if (const auto found = maker ? std::find(stores.begin(), stores.end(), *maker) : stores.end();
        found != stores.end())
      for (std::size_t n = 0; n < places.size(); ++n)
        places[n] = static_cast<Rank>((static_cast<std::size_t>(found - stores.begin()) + n) % stores.size());
    std::vector<Rank> ranks;
    for (const auto place : places) ranks.push_back(stores[place]);
    std::sort(ranks.begin(), ranks.end());
    holders.add(ranks);
  }
  DCHECK(holders.tile_count() == grid.tile_count(), "every tile has holders");
  return holders;
}

}  // namespace eindb
