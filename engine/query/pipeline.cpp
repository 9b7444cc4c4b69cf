#include "engine/query/pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "engine/plans/cluster_plan.hpp"
#include "engine/plans/plan_size.hpp"
#include "engine/query/distributed_query.hpp"
#include "engine/query/lookup_recorder.hpp"
#include "engine/query/memory_checks.hpp"
#include "engine/query/plan_key.hpp"
#include "engine/query/planning_options.hpp"
#include "engine/query/query_place.hpp"
#include "engine/query/query_run.hpp"
#include "engine/query/result_store.hpp"
#include "optimizer/calibrated_choice.hpp"
#include "optimizer/partitions/calibrated_model.hpp"
#include "optimizer/partitions/prediction.hpp"
#include "parser/random_seeds.hpp"
#include "tensor/cell_block.hpp"

namespace eindb {
namespace {

bool gives_order(const ast::Query& query, const BoundQuery& bound) {
  const auto* subscripts = std::get_if<ast::Subscripts>(&query.body);
  return (query.path && bound.path_optimizer.empty()) || (subscripts != nullptr && subscripts->nesting);
}

// 0 where nobody asks, or where ranks run the query: their plan is made later.
double seconds_here(const OptimizedPlan& plan, const SessionUser& user) {
  if (user.gate == nullptr || !plan.is_lowered()) return 0;
  const CalibratedModel model(user.machine(), user.settings.threads());
  return predicted_seconds(plan.graph, plan.physical, model);
}

BoundQuery bind(const ast::Query& query, const NameSource& names, const ResultRequest& request) {
  return request.wanted.empty() ? bind_query(query, names, request.dtype) : bind_query(query, names, request.wanted);
}

// Binds again to get the error for an index outside its extent: only the binder knows the index's place in the
// statement.
void refuse_indices(const ast::Query& query, SessionState& session, const ResultRequest& request) {
  bind(query, session.names(), request);
  CHECK(false, "what the binder takes as an index every plan serves");
}

// EinGraph -> rewritten -> vertices of at most two inputs -> partition vectors -> plan for this process. A query that
// workers run is not lowered here but when it is executed, for the workers that are up then.
OptimizedPlan optimize(const BoundQuery& bound, const SessionState& session, const ResultRequest& request,
                       const ObservedCells& observed) {
  auto options = planning_options(bound, session.user, session.statement, request);
  options.path.observed = &observed;
  Optimization optimization(bound.graph, std::move(options));
  optimization.rewrite();
  optimization.order();
  optimization.label();
  optimization.lower();
  return optimization.take();
}

// A query for workers that takes less time here gets a plan for this process in place of the other. Nullopt if there is
// no choice: results that are stored are made by the workers that store them, or by others if one of these is lost.
std::optional<PlaceChoice> choose_place(const BoundQuery& bound, SessionState& session, ResultRequest request,
                                        const ObservedCells& observed, OptimizedPlan& plan) {
  if (request.stored || session.database.cluster == nullptr ||
      session.user.settings.small_statements() != SmallStatements::Here)
    return std::nullopt;
  const auto costs = place_costs(plan.graph, session);
  const auto& figures = session.user.machine();
  if (auto at_best = costs.choose(least_work(plan, figures)); !at_best.here) return at_best;
  request.for_workers = false;
  request.without_workers = true;
  auto plan_here = optimize(bound, session, request, observed);
  const CalibratedModel model(figures, session.user.settings.threads());
  auto choice = costs.choose(predicted_seconds(plan_here.graph, plan_here.physical, model));
  if (choice.here) plan = std::move(plan_here);
  return choice;
}

// Syntax tree -> bound EinGraph -> plan.
QueryPlan make_plan(const ast::Query& query, const NameSource& names, SessionState& session,
                    const ResultRequest& request, std::shared_ptr<ObservedCells> observed) {
  BoundQuery bound = bind(query, names, request);
  auto plan = optimize(bound, session, request, *observed);
  const auto place = request.for_workers ? choose_place(bound, session, request, *observed, plan) : std::nullopt;
  const bool order_given = gives_order(query, bound);
  const auto seconds = seconds_here(plan, session.user);
  const auto version = observed->version();
  return {.query = std::move(bound),
          .plan = std::move(plan),
          .order_given = order_given,
          .parameters = names.deferred_parameters,
          .predicted_seconds = seconds,
          .place = place,
          .observed = std::move(observed),
          .observed_before = version,
          .computed = {},
          .runs = {},
          .inputs = {}};
}

CachedPlan plan_and_keep(const ast::Query& query, SessionState& session, const ResultRequest& request, PlanKey key,
                         std::uint64_t version, std::shared_ptr<ObservedCells> observed) {
  LookupRecorder recorder(session.names(), session.database);
  recorder.names().deferred_parameters = std::move(key.deferred);
  const auto plan =
      std::make_shared<const QueryPlan>(make_plan(query, recorder.names(), session, request, std::move(observed)));
  CachedPlan made{plan, std::make_shared<LatestClusterPlan>(), recorder.take(), version, approximate_bytes(*plan)};
  if (session.user.settings.plan_cache_size() > 0) session.database.plans.insert(std::move(key.text), made);
  return made;
}

}  // namespace

namespace {

// A plan may be in the cache from when its tensors could be read.
void check_reads(const QueryPlan& plan, SessionState& session) {
  if (!session.user.permissions.is_restricted()) return;
  std::vector<std::string_view> names;
  for (const auto& vertex : plan.query.graph.vertices())
    if (vertex.stored && !vertex.stored->attached) names.push_back(vertex.stored->name);
  for (const auto* tensor : session.database.catalog.get_all(names)) session.check_right(*tensor, Right::Select);
}

}  // namespace

PlannedQuery plan_query(const ast::Query& query, SessionState& session, ResultRequest request) {
  if (const auto seeded = with_random_seeds(query, [&] { return session.user.settings.take_random_seed(); }))
    return plan_query(*seeded, session, std::move(request));
  request.for_workers = request.for_workers || runs_on_cluster(session.database, session.user.settings);
  const auto start = std::chrono::steady_clock::now();
  const auto capacity = session.user.settings.plan_cache_size();
  const auto version = session.database.connection().current_data_version();
  auto key = plan_key(query, session.user, session.statement, request);
  session.database.plans.resize(capacity);
  std::shared_ptr<const QueryPlan> outdated;
  const auto* found = session.database.plans.find(key.text, [&](CachedPlan& cached) {
    if (!holds(cached.lookups, session.database, cached.data_version == version)) return false;
    cached.data_version = version;
    if (is_outdated(*cached.plan)) outdated = cached.plan;
    return !is_outdated(*cached.plan);
  });
  if (outdated != nullptr) session.database.plans.drop(*outdated);
  auto plan = found == nullptr ? nullptr : found->plan;
  auto for_cluster = found == nullptr ? nullptr : found->for_cluster;
  if (plan != nullptr && !serves_indices(*plan, session.statement.parameters()))
    refuse_indices(query, session, request);
  auto source = PlanSource::Cached;
  if (plan == nullptr) {
    source = capacity > 0 ? PlanSource::Made : PlanSource::Uncached;
    auto observed = outdated != nullptr ? outdated->observed : std::make_shared<ObservedCells>();
    auto made = plan_and_keep(query, session, request, std::move(key), version, std::move(observed));
    plan = std::move(made.plan);
    for_cluster = std::move(made.for_cluster);
  }
  check_reads(*plan, session);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return {std::move(plan), std::move(for_cluster), source, elapsed.count()};
}

bool runs_on_cluster(const OpenDatabase& database, const Settings& settings) {
  return database.cluster != nullptr && settings.workers() > 0;
}

namespace {

// A plan for this process is lowered. Where there are workers, that is one of a small query.
bool runs_on_cluster(const PlannedQuery& planned, const SessionState& session) {
  return runs_on_cluster(session.database, session.user.settings) && !planned.plan.is_lowered();
}

}  // namespace

QueryProfile run_query(const PlannedQuery& planned, SessionState& session, ReadSnapshot& snapshot,
                       std::span<TileSink* const> sinks) {
  CHECK(sinks.size() == planned.result_count(), "every result has a sink");
  check_memory(planned.plan, session.user.settings);
  QueryProfile profile;
  if (runs_on_cluster(planned, session)) {
    // Rewritten EinGraph and partition vectors -> placement -> steps of all ranks -> tiles of the results.
    DistributedQuery query(planned, session);
    const std::vector<bool> stored(sinks.size(), false);
    QueryRun run(planned, session, snapshot, [&] { return query.need(stored); });
    for (auto* sink : sinks) sink->begin(run.context().memory);
    profile.cluster = std::make_shared<const ClusterProfile>(query.collect(run.context(), sinks));
    run.end();
  } else {
    // Physical plan -> tasks on tiles -> tiles of the results.
    QueryRun run(planned, session, snapshot, [&] { return need_of(planned, session.user.settings); });
    for (auto* sink : sinks) sink->begin(run.context().memory);
    if (planned.shared->place) run.bring_tiles(planned);
    auto local = execute_here(planned, session, run.context(), sinks);
    profile.local = std::move(local.profile);
    profile.again = std::move(local.again);
    run.end();
  }
  return profile;
}

namespace {

/// The divisor for the memory that unwritten tiles may take: half of the memory for tiles. Statements compute in the
/// rest.
constexpr std::int64_t kUnwrittenShare = 2;

// Whether there is room for results of so many bytes together, in the places of what their tensors have.
bool may_stay_unwritten(std::span<const StoredResult> results, double bytes, const SessionState& session) {
  const auto& unwritten = session.database.unwritten;
  auto others = unwritten.bytes();
  for (const auto& result : results)
    if (const auto replaced = unwritten.find(result.tensor)) others -= replaced->bytes();
  CHECK(others >= 0, "tiles that are replaced are among the unwritten ones");
  return static_cast<double>(others) + bytes <=
         static_cast<double>(session.user.settings.memory_for_tiles()) / kUnwrittenShare;
}

// Whether results may stay unwritten until the end of the statement's transaction. They may not if sessions share their
// memory, since each statement must release its part at its end, nor with a cluster, since workers read tables. Results
// of cells take what their cells take, about; what they took in fact is known when they are there.
bool can_stay_unwritten(std::span<const StoredResult> results, const PlannedQuery& planned,
                        const SessionState& session) {
  if (!session.statement.is_in_transaction() || session.user.gate != nullptr || session.database.cluster != nullptr)
    return false;
  double bytes = 0;
  for (std::size_t n = 0; n < results.size(); ++n) {
    const auto& [tensor, has_tiles] = results[n];
    if (!has_tiles || tensor.is_sharded() || !tensor.grid.cuts_evenly()) return false;
    if (tensor.encoding != Encoding::Plain) return false;  // stored values are rounded
    const auto& output = planned.plan.graph.vertex(planned.plan.graph.outputs()[n]);
    bytes += output.cells ? bytes_of_cells(output.dtype, output.bound, output.cells->cells)
                          : static_cast<double>(tensor.dense_bytes());
  }
  return may_stay_unwritten(results, bytes, session);
}

bool all_temporary(std::span<const StoredResult> results) {
  return std::all_of(results.begin(), results.end(), [](const auto& result) { return result.tensor.is_temporary(); });
}

// The tiles of temporary tensors are read by the connection that writes them.
bool overwrites_temporary(std::span<const StoredResult> results) {
  return std::any_of(results.begin(), results.end(),
                     [](const auto& result) { return result.has_tiles && result.tensor.is_temporary(); });
}

}  // namespace

void store_query(const PlannedQuery& planned, SessionState& session, ReadSnapshot& snapshot,
                 std::span<const StoredResult> results) {
  const bool at_workers =
      runs_on_cluster(planned, session) &&
      std::any_of(results.begin(), results.end(), [](const auto& result) { return result.tensor.is_sharded(); });
  CHECK(results.size() == planned.result_count(), "every result of a stored query has a tensor");
  auto& connection = session.database.connection();
  const bool keeps = can_stay_unwritten(results, planned, session);
  if (keeps && !all_temporary(results)) connection.begin_writing();
  // Collects first if the query could otherwise read its own writes, or if workers may have to make tiles again.
  const bool collects = at_workers || !snapshot.is_apart() || overwrites_temporary(results);
  using Way = ResultStore::Way;
  ResultStore store(connection, results, at_workers, keeps ? Way::Keep : collects ? Way::Collect : Way::Write);
  if (at_workers) {
    DistributedQuery query(planned, session);
    std::vector<bool> stored;
    for (const auto& result : results) stored.push_back(result.tensor.is_sharded());
    QueryRun run(planned, session, snapshot, [&] { return query.need(stored); });
    for (auto* sink : store.sinks()) sink->begin(run.context().memory);
    query.store(run.context(), results, store.sinks());
    run.end();
  } else {
    run_query(planned, session, snapshot, store.sinks());
  }
  if (keeps) {
    auto taken = store.take();
    double bytes = 0;
    for (std::size_t n = 0; n < taken.size(); ++n) {
      bytes += static_cast<double>(taken[n].tiles->bytes());
      taken[n].of_cells = planned.holds_cells(n);
    }
    if (may_stay_unwritten(results, bytes, session)) return session.database.unwritten.put(std::move(taken));
    for (std::size_t n = 0; n < results.size(); ++n) write_result(connection, results[n], *taken[n].tiles);
  } else {
    store.finish();
  }
  for (const auto& result : results) session.database.unwritten.drop(result.tensor);
}

TileGrid grid_to_read(const PlannedQuery& planned, std::size_t result, const SessionState& session) {
  const auto& grid = planned.result_grid(result);
  if (!planned.holds_cells(result)) return grid;
  const auto memory = static_cast<double>(session.user.settings.memory_for_tiles());
  return {grid.shape(), readable_tiles_of_cells(grid, planned.output(result).dtype, memory)};
}

std::vector<std::shared_ptr<ResultTiles>> collect(const PlannedQuery& planned, SessionState& session,
                                                  ReadSnapshot& snapshot, Pieces pieces) {
  check_results(planned, session);
  std::vector<CollectingSink> collected;
  for (std::size_t n = 0; n < planned.result_count(); ++n) {
    const auto type = pieces == Pieces::One ? std::optional(planned.output(n).dtype) : std::nullopt;
    collected.emplace_back(planned.result_grid(n), type);
  }
  std::vector<TileSink*> sinks;
  for (auto& sink : collected) sinks.push_back(&sink);
  run_query(planned, session, snapshot, sinks);
  std::vector<std::shared_ptr<ResultTiles>> tiles;
  for (std::size_t n = 0; n < collected.size(); ++n)
    tiles.push_back(std::make_shared<ResultTiles>(collected[n].take(), planned.result_grid(n),
                                                  grid_to_read(planned, n, session), collected[n].made_whole()));
  return tiles;
}

std::vector<std::shared_ptr<const TensorRelation>> evaluate_results(const ast::Query& query, SessionState& session) {
  ReadSnapshot snapshot(session.database.file, static_cast<std::size_t>(session.user.settings.threads()));
  const auto planned = plan_query(query, session);
  auto tiles = collect(planned, session, snapshot, Pieces::One);
  std::vector<std::shared_ptr<const TensorRelation>> relations;
  for (std::size_t n = 0; n < tiles.size(); ++n)
    relations.push_back(
        std::make_shared<const TensorRelation>(TensorRelation{.name = planned.query.results[n].name,
                                                              .labels = planned.query.results[n].label_names,
                                                              .dtype = planned.output(n).dtype,
                                                              .grid = tiles[n]->grid(),
                                                              .tiles = std::move(tiles[n]),
                                                              .names = planned.query.results[n].index_names}));
  return relations;
}

std::shared_ptr<const TensorRelation> evaluate_query(const ast::Query& query, SessionState& session) {
  auto results = evaluate_results(query, session);
  CHECK(results.size() == 1, "where one tensor is wanted the query has one result");
  return std::move(results.front());
}

}  // namespace eindb
