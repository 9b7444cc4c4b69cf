#include "engine/query/pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "engine/plans/cluster_plan.hpp"
#include "engine/plans/plan_size.hpp"
#include "engine/query/distributed_query.hpp"
#include "engine/query/lookup_recorder.hpp"
#include "engine/query/plan_key.hpp"
#include "engine/query/query_admission.hpp"
#include "engine/query/result_store.hpp"
#include "engine/tensors/tile_endpoints.hpp"
#include "executor/executor.hpp"
#include "executor/least_memory.hpp"
#include "executor/single_rank_exchange.hpp"
#include "optimizer/partitions/calibrated_model.hpp"
#include "optimizer/partitions/prediction.hpp"
#include "storage/files/scratch_file.hpp"

namespace eindb {
namespace {

// The requested partitions, and the default partitions of stored tensors for results to be stored.
WantedPartitions wanted_partitions(const BoundQuery& query, const Settings& settings, const ResultRequest& request) {
  auto wanted = request.partitions;
  wanted.resize(query.results.size());
  if (!request.stored) return wanted;
  for (std::size_t n = 0; n < wanted.size(); ++n) {
    const auto& output = query.graph.vertex(query.graph.outputs()[n]);
    if (!wanted[n]) wanted[n] = default_partition(output.bound, output.dtype, settings.tile_bytes());
  }
  return wanted;
}

// The memory that contractions are sliced to fit. 0 disables slicing; it is used when workers run the query, since they
// spill to scratch files of their own.
std::int64_t memory_to_plan_with(const Settings& settings, bool for_workers) {
  return settings.slicing() && !for_workers ? settings.memory_for_tiles() : 0;
}

// Sets up costs in seconds on this machine, and lets the optimizer choose the settings that the user has not set.
void use_machine(OptimizerOptions& options, const SessionUser& user, const ResultRequest& request) {
  const auto& settings = user.settings;
  options.machine = MachineOptions{.figures = user.machine(),
                                   .threads = settings.threads(),
                                   .memory_limit = settings.memory_for_tiles(),
                                   .choose_parallelism = !settings.parallelism_is_set() && settings.workers() == 0,
                                   .spills = !request.for_workers};
  if (!request.stored || settings.tile_bytes_is_set()) return;
  options.machine->stored_partitions = std::exchange(options.output_partitions, request.partitions);
}

bool gives_order(const ast::Query& query, const BoundQuery& bound) {
  const auto* subscripts = std::get_if<ast::Subscripts>(&query.body);
  return (query.path && bound.path_optimizer.empty()) || (subscripts != nullptr && subscripts->nesting);
}

[[noreturn]] void refuse_for_memory(const MemoryShortfall& shortfall, const Settings& settings) {
  const auto limit = settings.memory_limit();
  const auto mebibytes = [](double bytes) {
    return std::to_string(static_cast<std::int64_t>(std::ceil(bytes / 1048576.0)));
  };
  const auto bytes = std::min(Settings::memory_limit_for_tiles(shortfall.bytes), 9e18);
  const auto least = mebibytes(bytes);
  const auto remedy = settings.how_to_have(static_cast<std::int64_t>(std::ceil(bytes)));
  if (shortfall.for_calls) {
    throw Error(
        ErrorKind::MemoryLimit,
        "the tiles that kernel calls work on need at least " + least + " MiB, more than the memory_limit of " +
            mebibytes(static_cast<double>(limit)) + " MiB",
        std::nullopt,
        remedy + ", or cut the operands of " + shortfall.vertex + " into smaller tiles: ALTER TENSOR ... PARTITION");
  }
  throw Error(ErrorKind::MemoryLimit,
              shortfall.vertex + " needs at least " + least +
                  " MiB in whatever slices, for its result and what slices " + "share, more than the memory_limit of " +
                  mebibytes(static_cast<double>(limit)) + " MiB",
              std::nullopt, remedy + ", or try another order with USING PATH");
}

// Refuses plans that cannot run in the memory limit, before any work is done. EXPLAIN still shows such plans.
void check_memory(const OptimizedPlan& plan, const Settings& settings) {
  if (plan.shortfall) refuse_for_memory(*plan.shortfall, settings);
}

double result_bytes(const PlannedQuery& planned, std::size_t n) {
  const auto& made = planned.plan.graph.vertex(planned.plan.graph.outputs()[n]);
  auto bytes = static_cast<double>(size_of(made.dtype)) * made.density.present;
  for (const auto extent : made.bound.extents()) bytes *= static_cast<double>(extent);
  return bytes;
}

std::string names_of_results(const PlannedQuery& planned) {
  std::string names;
  for (const auto& result : planned.query.results) names += (names.empty() ? "" : ", ") + result.name;
  return names;
}

// Refuses results that fit neither in memory nor in the scratch file, before any work is done.
void check_results(const PlannedQuery& planned, const SessionState& session) {
  double bytes = 0;
  for (std::size_t n = 0; n < planned.result_count(); ++n) bytes += result_bytes(planned, n);
  const auto limit = static_cast<double>(session.user.settings.memory_limit());
  if (bytes <= limit) return;
  const auto directory = session.database.file.scratch_directory();
  const auto room = static_cast<double>(free_bytes(directory.empty() ? temporary_directory() : directory));
  if (bytes <= limit + room) return;
  const auto mebibytes = [](double value) {
    return std::to_string(static_cast<std::int64_t>(std::ceil(std::min(value, 9e18) / 1048576.0)));
  };
  throw Error(ErrorKind::MemoryLimit,
              "the result of " + names_of_results(planned) + " takes " + mebibytes(bytes) +
                  " MiB, more than the memory_limit of " + mebibytes(limit) + " MiB and the " + mebibytes(room) +
                  " MiB that are free for scratch files",
              std::nullopt, "ask for a part of it, or aggregate it");
}

// The stored tensors that the query reads.
std::vector<InputTensor> stored_inputs(const EinGraph& graph) {
  std::vector<InputTensor> tensors;
  for (const auto& vertex : graph.vertices())
    if (vertex.stored && !vertex.stored->attached) tensors.push_back(*vertex.stored);
  return tensors;
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

// The stages themselves.
QueryPlan make_plan(const ast::Query& query, const NameSource& names, const SessionState& session,
                    const ResultRequest& request) {
  // Syntax tree -> EinGraph of vertices with any number of inputs.
  BoundQuery bound = bind(query, names, request);
  // EinGraph -> rewritten EinGraph of unary and binary vertices -> partition vectors -> physical plan for this process.
  // A plan for ranks is made when it is known which workers are up (engine/plans/cluster_plan).
  OptimizerOptions options;
  options.parallelism = session.user.settings.parallelism();
  options.path = session.user.settings.path();
  options.path.cancellation = &session.statement.cancellation();
  options.path.progress = [&](std::int64_t done, std::int64_t total) {
    session.statement.report("contraction order", done, total);
  };
  if (!bound.path_optimizer.empty()) options.path.optimizer = parse_path_optimizer(bound.path_optimizer);
  if (request.for_workers) options.workers = session.user.settings.workers();
  options.strategy = session.user.settings.strategy();
  options.disabled_passes = session.user.settings.disabled_passes();
  options.compare_strategies = request.compare_strategies;
  options.lowers = !request.for_workers;
  options.memory_limit = memory_to_plan_with(session.user.settings, request.for_workers);
  options.spills = !request.for_workers;
  options.least_memory = [](const Fragment& plan) { return static_cast<double>(least_memory(plan)); };
  options.output_partitions = wanted_partitions(bound, session.user.settings, request);
  if (session.user.settings.calibrated()) use_machine(options, session.user, request);
  OptimizedPlan plan = optimize(bound.graph, options);
  const bool order_given = gives_order(query, bound);
  const auto seconds = seconds_here(plan, session.user);
  return {std::move(bound), std::move(plan), order_given, names.deferred_parameters, seconds};
}

CachedPlan plan_and_keep(const ast::Query& query, SessionState& session, const ResultRequest& request, PlanKey key,
                         std::uint64_t version) {
  LookupRecorder recorder(session.names(), session.database);
  recorder.names().deferred_parameters = std::move(key.deferred);
  const auto plan = std::make_shared<const QueryPlan>(make_plan(query, recorder.names(), session, request));
  CachedPlan made{plan, std::make_shared<LatestClusterPlan>(), recorder.take(), version, approximate_bytes(*plan)};
  if (session.user.settings.plan_cache_size() > 0) session.database.plans.insert(std::move(key.text), made);
  return made;
}

}  // namespace

PlannedQuery plan_query(const ast::Query& query, SessionState& session, ResultRequest request) {
  request.for_workers = request.for_workers || runs_on_cluster(session.database, session.user.settings);
  const auto start = std::chrono::steady_clock::now();
  const auto capacity = session.user.settings.plan_cache_size();
  const auto version = session.database.connection().current_data_version();
  auto key = plan_key(query, session.user, session.statement, request);
  session.database.plans.resize(capacity);
  const auto* found = session.database.plans.find(key.text, [&](CachedPlan& cached) {
    if (!holds(cached.lookups, session.database, cached.data_version == version)) return false;
    cached.data_version = version;
    return true;
  });
  auto plan = found == nullptr ? nullptr : found->plan;
  auto for_cluster = found == nullptr ? nullptr : found->for_cluster;
  if (plan != nullptr && !serves_indices(*plan, session.statement.parameters()))
    refuse_indices(query, session, request);
  auto source = PlanSource::Cached;
  if (plan == nullptr) {
    source = capacity > 0 ? PlanSource::Made : PlanSource::Uncached;
    auto made = plan_and_keep(query, session, request, std::move(key), version);
    plan = std::move(made.plan);
    for_cluster = std::move(made.for_cluster);
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return {std::move(plan), std::move(for_cluster), source, elapsed.count()};
}

bool runs_on_cluster(const OpenDatabase& database, const Settings& settings) {
  return database.cluster != nullptr && settings.workers() > 0;
}

namespace {

// Frees memory for a query: first tiles of the cache, which can be read again, then unwritten tiles.
class KeptTiles final : public TileKeeper {
 public:
  KeptTiles(TileCache& cache, UnwrittenTensors& unwritten, MemoryBudget& memory)
      : cache_(cache), unwritten_(unwritten), memory_(memory) {
    memory_.set_keeper(this);
  }
  ~KeptTiles() override { memory_.set_keeper(&cache_); }
  KeptTiles(const KeptTiles&) = delete;
  KeptTiles& operator=(const KeptTiles&) = delete;

  std::int64_t idle_bytes() const override { return cache_.idle_bytes() + unwritten_.idle_bytes(); }
  std::int64_t evict(std::int64_t bytes) override {
    const auto freed = cache_.evict(bytes);
    return freed > 0 ? freed : unwritten_.evict(bytes);
  }

 private:
  TileCache& cache_;
  UnwrittenTensors& unwritten_;
  MemoryBudget& memory_;
};

// The resources of one running query.
class QueryRun {
 public:
  QueryRun(const PlannedQuery& planned, SessionState& session, ReadSnapshot& snapshot,
           const std::function<QueryNeed()>& need)
      // Waits for the query's turn, where sessions share the machine.
      : admission_(QueryAdmission::enter(need, session)),
        memory_(QueryAdmission::budget(admission_, session)),
        cached_(session.database.tiles, memory_, session.database.connection().current_data_version(),
                session.user.settings.tile_cache_size()),
        kept_(session.database.tiles, session.database.unwritten, *memory_),
        stored_(snapshot, session.database.catalog, stored_inputs(planned.plan.graph), session.database.tiles,
                session.database.unwritten),
        source_(session.database.attached, stored_),
        context_{.scheduler = session.user.scheduler(),
                 .cancellation = session.statement.cancellation(),
                 .memory = memory_,
                 .source = source_,
                 .progress = [&session](std::string_view stage, std::int64_t done, std::int64_t total) {
                   session.statement.report(stage, done, total);
                 }} {}
  QueryRun(const QueryRun&) = delete;
  QueryRun& operator=(const QueryRun&) = delete;

  ExecutionContext& context() { return context_; }
  /// The result is there.
  void end() { admission_->has_run(*memory_); }

 private:
  std::shared_ptr<QueryAdmission> admission_;
  std::shared_ptr<MemoryBudget> memory_;
  TileCache::Statement cached_;
  KeptTiles kept_;
  StoredTiles stored_;
  AttachedTiles source_;
  ExecutionContext context_;
};

// A plan that was not made for the memory limit may still fit, since absent tiles take no memory. If it does not, the
// error names the least memory that suffices.
ExecutionProfile execute_here(const PlannedQuery& planned, SessionState& session, ExecutionContext& context,
                              std::span<TileSink* const> sinks) {
  const auto run = [&](const PhysicalPlan& plan) {
    try {
      return execute(plan, {}, single_rank(), context, sinks);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::MemoryLimit) throw;
      const auto least = least_memory(*plan.fragment());
      if (least <= context.memory->limit()) throw;
      refuse_for_memory({names_of_results(planned), static_cast<double>(least), true}, session.user.settings);
    }
  };
  const auto& plan = planned.plan.physical;
  return planned.shared->parameters.empty() ? run(plan) : run(with_values(plan, session.statement.parameters()));
}

}  // namespace

QueryProfile run_query(const PlannedQuery& planned, SessionState& session, ReadSnapshot& snapshot,
                       std::span<TileSink* const> sinks) {
  check_memory(planned.plan, session.user.settings);
  QueryProfile profile;
  if (runs_on_cluster(session.database, session.user.settings)) {
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
    profile.local = execute_here(planned, session, run.context(), sinks);
    run.end();
  }
  return profile;
}

namespace {

/// The divisor for the memory that unwritten tiles may take: half of the memory for tiles. Statements compute in the
/// rest.
constexpr std::int64_t kUnwrittenShare = 2;

// Whether results may stay unwritten until the end of the statement's transaction. They may not if sessions share their
// memory, since each statement must release its part at its end, nor with a cluster, since workers read tables.
bool can_stay_unwritten(std::span<const StoredResult> results, const SessionState& session) {
  if (!session.statement.is_in_transaction() || session.user.gate != nullptr || session.database.cluster != nullptr)
    return false;
  auto bytes = session.database.unwritten.dense_bytes();
  for (const auto& [tensor, has_tiles] : results) {
    if (!has_tiles || tensor.is_sharded()) return false;
    if (session.database.unwritten.find(tensor.id) == nullptr) bytes += tensor.dense_bytes();
  }
  return bytes <= session.user.settings.memory_for_tiles() / kUnwrittenShare;
}

}  // namespace

void store_query(const PlannedQuery& planned, SessionState& session, ReadSnapshot& snapshot,
                 std::span<const StoredResult> results) {
  const bool at_workers =
      runs_on_cluster(session.database, session.user.settings) &&
      std::any_of(results.begin(), results.end(), [](const auto& result) { return result.tensor.is_sharded(); });
  auto& connection = session.database.connection();
  const bool keeps = can_stay_unwritten(results, session);
  if (keeps) connection.begin_writing();
  // Collects first if the query could otherwise read its own writes, or if workers may have to make tiles again.
  const bool collects = keeps || at_workers || !snapshot.is_apart();
  ResultStore store(connection, results, at_workers, collects);
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
  if (keeps) return session.database.unwritten.put(store.take());
  store.finish();
  for (const auto& result : results) session.database.unwritten.drop(result.tensor.id);
}

std::vector<std::shared_ptr<BufferedTiles>> evaluate(const PlannedQuery& planned, SessionState& session,
                                                     ReadSnapshot& snapshot) {
  check_results(planned, session);
  std::vector<CollectingSink> collected;
  for (std::size_t n = 0; n < planned.result_count(); ++n) collected.emplace_back(planned.result_grid(n));
  std::vector<TileSink*> sinks;
  for (auto& sink : collected) sinks.push_back(&sink);
  run_query(planned, session, snapshot, sinks);
  std::vector<std::shared_ptr<BufferedTiles>> tiles;
  for (auto& sink : collected) tiles.push_back(sink.take());
  return tiles;
}

std::vector<std::shared_ptr<const TensorRelation>> evaluate_results(const ast::Query& query, SessionState& session) {
  ReadSnapshot snapshot(session.database.file, static_cast<std::size_t>(session.user.settings.threads()));
  const auto planned = plan_query(query, session);
  auto tiles = evaluate(planned, session, snapshot);
  std::vector<std::shared_ptr<const TensorRelation>> relations;
  for (std::size_t n = 0; n < tiles.size(); ++n)
    relations.push_back(
        std::make_shared<const TensorRelation>(TensorRelation{.name = planned.query.results[n].name,
                                                              .labels = planned.query.results[n].label_names,
                                                              .dtype = planned.output(n).dtype,
                                                              .grid = planned.result_grid(n),
                                                              .tiles = std::move(tiles[n])}));
  return relations;
}

std::shared_ptr<const TensorRelation> evaluate_query(const ast::Query& query, SessionState& session) {
  auto results = evaluate_results(query, session);
  CHECK(results.size() == 1, "where one tensor is wanted the query has one result");
  return std::move(results.front());
}

}  // namespace eindb
