#include "engine/query/distributed_query.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <utility>

#include "cluster/memory_shares.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "common/stopwatch.hpp"
#include "engine/plans/cluster_plan.hpp"
#include "engine/plans/plan_size.hpp"
#include "engine/plans/worker_choices.hpp"
#include "engine/query/planning_options.hpp"
#include "engine/query/query_place.hpp"
#include "engine/tensors/tile_endpoints.hpp"
#include "executor/executor.hpp"
#include "optimizer/partitions/worker_count.hpp"
#include "plan/tile_moves.hpp"
#include "storage/shards/shard_log.hpp"
#include "storage/shards/sharded_contents.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"
#include "storage/tiles/tile_store.hpp"
#include "storage/tiles/tile_writer.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kCallsPerThread = 4;
// A worker can come back and be lost again while a statement runs; more such returns than this end the statement.
constexpr std::size_t kMostReturns = 2;
// After its first failure a statement is planned again only within this time.
constexpr std::chrono::seconds kReplanningTime{30};

using Clock = std::chrono::steady_clock;

std::vector<Workers> choices_for(const SessionState& session) {
  if (session.database.cluster != nullptr) return choices_of_workers(*session.database.cluster);
  return {imagined_workers(static_cast<std::size_t>(session.user.settings.workers()))};
}

// The number of ranks that may compute, counted from rank 0. The others take part with the tiles that they store.
std::size_t computing_ranks(const SessionState& session, std::size_t workers) {
  const bool computes = session.database.cluster != nullptr && session.database.cluster->coordinator_computes();
  return std::min(workers + (computes ? 1 : 0), static_cast<std::size_t>(session.user.settings.workers()));
}

// Shares of a rank's memory for tiles: one for the tiles that kernel calls work on, and one for pieces of tiles in
// transit to or from other ranks. The remainder is for tiles that wait.
constexpr double kCallShare = 0.5;
constexpr double kMovingShare = 0.25;

void fit_moves(ClusterShape& shape, double memory) {
  const auto moving = 2 * static_cast<double>(shape.ranks - 1);
  shape.most_tile_bytes = std::min(shape.most_tile_bytes, kMovingShare * memory / moving);
}

// Fits calls and sequences of collectives to the memory of a rank that computes.
void fit_calls(ClusterShape& shape, double memory, double threads) {
  shape.most_call_bytes = std::min(shape.most_call_bytes, kCallShare * memory / threads);
  shape.memory = std::min(shape.memory, memory);
}

}  // namespace

// A plan for workers, and the locations of the tiles that it reads. Both come from the statement's last execution if
// they still hold.
class DistributedQuery::Attempt {
 public:
  /// `stored`: for each result, whether workers store it. Error{WorkerLost} if none of the workers has a tile that is
  /// read.
  Attempt(const PlannedQuery& planned, SessionState& session, const std::vector<bool>& stored, Workers workers)
      : planned_(planned),
        session_(session),
        workers_(std::move(workers)),
        computing_(computing_ranks(session, workers_.size())) {
    CHECK(!workers_.empty() && stored.size() == planned.result_count(),
          "some workers run it, and each result has a place");
    const Stopwatch watch;
    find_inputs();
    find_plan(stored);
    const auto& values = session_.statement.parameters();
    plan_ = planned_.shared->parameters.empty()
                ? std::shared_ptr<const PhysicalPlan>(kept_, &kept_->plan)
                : std::make_shared<const PhysicalPlan>(with_values(kept_->plan, values));
    planning_seconds_ = watch.seconds();
  }

  std::size_t worker_count() const { return workers_.size(); }
  const PhysicalPlan& steps() const { return *plan_; }

  // Chooses the workers that store the tiles of results in sharded tensors. A tile is stored at the worker that makes
  // it, if it lies in one block at a worker; further copies go to the workers that follow.
  void place_results(std::span<const StoredResult> results) {
    auto locations = *locations_;
    for (std::size_t n = 0; n < results.size(); ++n) {
      if (!results[n].tensor.is_sharded()) continue;
      CHECK(list_of(n) == locations.holders.size(), "the lists of stored results follow those of inputs, in order");
      locations.holders.push_back(place_result(n, results[n].tensor));
      locations.contents.emplace_back();
    }
    CHECK(locations.holders.size() == locations.contents.size(), "each list of holders has its contents");
    locations_ = std::make_shared<const InputLocations>(std::move(locations));
  }

  // The workers that may store tiles: those that do not leave.
  std::vector<ShardWorker> shard_workers() const {
    std::vector<ShardWorker> out;
    const auto leaving = ShardLog(session_.database.connection()).leaving();
    for (const auto& worker : workers_)
      if (!leaving.contains(worker.data)) out.push_back({worker.data, worker.address});
    return out;
  }

  // Writes the rows with references to the tiles that workers report to have stored for a result.
  void write_references(SqliteConnection& connection, std::size_t result, const StoredResult& stored, ContentId first,
                        const std::vector<RankReport>& reports) const {
    const auto& tensor = stored.tensor;
    const auto& holders = locations_->holders[list_of(result)];
    CHECK(reports.size() >= workers_.size(), "every worker reports");
    std::map<std::int64_t, PutContent> put;
    for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
      if (result >= reports[rank].stored.size())
        throw Error(ErrorKind::Corrupt, "a worker does not report what it stored of " + tensor.name);
      for (const auto& stored_tile : reports[rank].stored[result]) {
        auto& content = put[stored_tile.tile];
        if (!content.workers.empty() && content.checksum != stored_tile.checksum)
          throw Error(ErrorKind::Corrupt, "workers disagree about a tile of " + tensor.name);
        content.content = ContentId{number(first) + stored_tile.tile};
        content.bytes = stored_tile.bytes;
        content.checksum = stored_tile.checksum;
        content.label = {stored_tile.format, std::int64_t{stored_tile.count}};
        content.workers.push_back({workers_[rank].data, workers_[rank].address});
      }
    }
    TileWriter writer(connection, tensor.store());
    for (const auto& [tile, content] : put) {
      if (tile < 0 || tile >= tensor.grid.tile_count() || content.workers.size() != holders.of(tile).size())
        throw Error(ErrorKind::Corrupt, "workers report other tiles of " + tensor.name + " than they were to store");
      writer.refer(tile, content);
    }
    for (std::int64_t tile = 0; stored.has_tiles && tile < tensor.grid.tile_count(); ++tile)
      if (!put.contains(tile)) writer.clear(tile);
  }

  ClusterProfile run(ExecutionContext& context, std::span<TileSink* const> sinks,
                     std::vector<std::optional<ResultContents>> results) {
    const auto& holders = locations_->holders;
    ClusterStatement statement{*plan_, holders, {}, locations_->contents, std::move(results), 0, 0};
    for (const auto& worker : workers_) statement.workers.push_back(worker.data);
    auto profile = describe();
    if (auto* contents = ShardedContents::of(session_.database.connection())) contents->prepare();
    profile.reports = session_.database.cluster->run(
        statement, session_.statement.cancellation(), [&](Exchange& exchange, const Cancellation& cancellation) {
          ExecutionContext own{context.scheduler, cancellation, context.memory, context.source, context.progress};
          return execute(*plan_, holders, exchange, own, sinks);
        });
    return profile;
  }

  void mend_copies() const { eindb::mend_copies(planned_.for_cluster->inputs, stored()); }

  ClusterProfile describe() const {
    ClusterProfile profile{.plan = plan_,
                           .made = kept_,
                           .locations = locations_,
                           .computing = computing_,
                           .ranks = {},
                           .planning_seconds = planning_seconds_,
                           .source = source_,
                           .reports = {}};
    for (const auto& worker : workers_) profile.ranks.push_back(worker.address);
    profile.ranks.emplace_back("coordinator");
    return profile;
  }

 private:
  StoredTensors stored() const {
    return {session_.database.connection(), session_.database.catalog, session_.database.cluster.get()};
  }

  // The terms are read before the tiles are located, so that a change in between makes the next execution locate them
  // again.
  void find_inputs() {
    auto& latest = *planned_.for_cluster;
    if (latest.inputs.empty()) latest.inputs = planned_inputs(*planned_.shared);
    auto terms = location_terms(stored(), workers_);
    if (latest.locations != nullptr && latest.locations->terms == terms) {
      locations_ = latest.locations;
      return;
    }
    latest.locations = nullptr;
    locations_ = std::make_shared<const InputLocations>(locate(latest.inputs, stored(), workers_, std::move(terms)));
    if (approximate_bytes(*locations_) <= LatestClusterPlan::kMostOfLocations) latest.locations = locations_;
    session_.database.plans.count_again(*planned_.shared);
  }

  void find_plan(const std::vector<bool>& stored) {
    auto& latest = *planned_.for_cluster;
    auto terms = terms_for(stored);
    const bool is_kept = latest.plan != nullptr && latest.plan->terms == terms;
    if (!is_kept) {
      latest.plan = plan_for_cluster(*planned_.shared, std::move(terms), locations_->holders);
      session_.database.plans.count_again(*planned_.shared);
    }
    kept_ = latest.plan;
    source_ = session_.database.plans.count_for_cluster(is_kept);
  }

  ClusterTerms terms_for(const std::vector<bool>& stored) const {
    const auto& settings = session_.user.settings;
    std::uint32_t threads = 1;
    for (const auto& worker : workers_) threads = std::max(threads, worker.threads);
    const auto wanted = settings.parallelism_is_set() ? std::optional(settings.parallelism()) : std::nullopt;
    const auto count = count_workers(planned_.plan.graph, static_cast<std::int64_t>(computing_), wanted);
    ClusterTerms terms{.shape = {.ranks = workers_.size() + 1,
                                 .coordinator = static_cast<Rank>(workers_.size()),
                                 .computing = count.workers,
                                 .calls_per_rank = kCallsPerThread * threads,
                                 .redistribution = settings.redistribution(),
                                 .transport = transport_costs(session_)},
                       .parallelism = count.calls,
                       .strategy = strategy_of(planned_.query, settings),
                       .stored = stored,
                       .input_places = locations_->places};
    fit_memory(terms.shape);
    return terms;
  }

  // The ranks whose disks have room for their part of the tensor, assuming that no tile is zero. If these are too few
  // for its copies, the ranks with any room. If those are too few as well, Error{Io} names the full workers.
  std::vector<Rank> ranks_with_room(const TensorInfo& tensor) const {
    std::vector<Rank> ranks;
    std::string full;
    std::size_t staying = 0;
    const auto leaving = ShardLog(session_.database.connection()).leaving();
    for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
      if (leaving.contains(workers_[rank].data)) continue;
      ++staying;
      if (!workers_[rank].is_full()) ranks.push_back(static_cast<Rank>(rank));
      else full += (full.empty() ? "" : ", ") + workers_[rank].address;
    }
    CHECK(tensor.replicas > 0, "a sharded tensor has a copy of each tile");
    if (staying == 0)
      throw Error(ErrorKind::WorkerLost,
                  "tensor " + tensor.name + " cannot be stored: all workers that are there are being drained",
                  std::nullopt, "start others; ALTER WORKER ... ACTIVATE has one keep tiles again");
    const auto copies = std::min(static_cast<std::size_t>(tensor.replicas), staying);
    if (ranks.size() < copies)
      throw Error(
          ErrorKind::Io, "tensor " + tensor.name + " cannot be stored: the disks of these workers are full: " + full,
          std::nullopt, "drop tensors, make room on these disks, or add workers; SHOW WORKERS tells who has room");
    while (true) {
      const auto computing = static_cast<std::size_t>(kept_->terms.shape.computing);
      const auto makers = static_cast<double>(std::min(ranks.size(), computing));
      const auto part = static_cast<double>(tensor.dense_bytes()) * std::min(1.0, static_cast<double>(copies) / makers);
      std::vector<Rank> roomy;
      for (const auto rank : ranks)
        if (static_cast<double>(workers_[rank].load.bytes_free) >= part) roomy.push_back(rank);
      if (roomy.size() == ranks.size() || roomy.size() < copies) return ranks;
      ranks = std::move(roomy);
    }
  }

  // The number of the holder list with the locations of a stored result.
  std::size_t list_of(std::size_t result) const {
    CHECK(result < plan_->results.size(), "a stored result is one of the plan's");
    return std::get<std::size_t>(plan_->step(plan_->results[result]).placement);
  }

  TileHolders place_result(std::size_t result, const TensorInfo& tensor) const {
    return holders_of_result(*plan_, result, tensor.grid, ranks_with_room(tensor),
                             static_cast<std::size_t>(tensor.replicas));
  }

  // Sets the memory of every rank. Imagined workers have as much as this machine.
  void fit_memory(ClusterShape& shape) const {
    const auto own = static_cast<double>(session_.user.settings.memory_for_tiles());
    const bool is_worker = session_.database.cluster == nullptr || session_.database.cluster->coordinator_computes();
    fit_moves(shape, own);
    if (is_worker) fit_calls(shape, own, session_.user.settings.threads());
    if (session_.database.cluster == nullptr) return;
    for (const auto& worker : workers_) {
      const auto share = static_cast<double>(MemoryShares::share_of_one(worker.memory_limit));
      fit_moves(shape, share);
      fit_calls(shape, share, std::max(worker.threads, 1U));
    }
  }

  const PlannedQuery& planned_;
  SessionState& session_;
  Workers workers_;        // the workers that are up, by rank
  std::size_t computing_;  // the number of ranks that may compute, counted from 0
  std::shared_ptr<const ClusterPlan> kept_;
  std::shared_ptr<const PhysicalPlan> plan_;         // with the values of parameters filled in
  std::shared_ptr<const InputLocations> locations_;  // also of stored results, after place_results()
  PlanSource source_ = PlanSource::Made;
  double planning_seconds_ = 0;
};

std::int64_t DistributedQuery::damage_noticed() const {
  return session_.database.cluster == nullptr ? 0 : session_.database.cluster->damaged_copies().noticed();
}

// Plans for the first choice of workers that has all the tiles that are read. If no choice has them because two of the
// workers do not reach each other, the error says so.
std::unique_ptr<DistributedQuery::Attempt> DistributedQuery::plan(const std::vector<bool>& stored) {
  auto choices = choices_for(session_);
  if (choices.empty()) throw not_reached(*session_.database.cluster, "no worker exchanges data with the coordinator");
  for (auto& workers : choices) {
    try {
      return std::make_unique<Attempt>(planned_, session_, stored, std::move(workers));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::WorkerLost) throw;
      if (&workers != &choices.back()) continue;
      if (session_.database.cluster == nullptr || session_.database.cluster->broken_pairs().empty()) throw;
      throw not_reached(*session_.database.cluster, error.message());
    }
  }
  throw Error(ErrorKind::Internal, "a choice of workers is the last one");
}

template <class Run>
ClusterProfile DistributedQuery::until_it_succeeds(const std::vector<bool>& stored, Run run) {
  std::optional<Clock::time_point> failed;
  for (std::size_t lost = 0;; ++lost) {
    const auto attempt = plan(stored);
    const auto noticed = damage_noticed();
    try {
      return run(*attempt);
    } catch (const Error& error) {
      const bool found_damage = damage_noticed() != noticed;
      // Each lost worker leaves fewer, so the loop ends, unless a worker keeps coming back: kMostReturns bounds that.
      if ((error.kind() != ErrorKind::WorkerLost && !found_damage) ||
          lost + 1 >= attempt->worker_count() + kMostReturns)
        throw;
      if (!failed) failed = Clock::now();
      if (Clock::now() - *failed > kReplanningTime) throw;
      session_.statement.cancellation().check();
      if (found_damage) attempt->mend_copies();
      session_.statement.report(found_damage ? "other copies" : "workers that remain", 0, 0);
    }
  }
}

namespace {

// Passes on only the tiles that the sink has not received yet. An attempt can fail during delivery, or after it, when a
// worker is lost before it reports its end; the next attempt then makes the whole result again.
class ResumingSink final : public TileSink {
 public:
  ResumingSink(TileSink& sink, std::int64_t tiles) : sink_(sink), tiles_(tiles) {}
  void write(std::int64_t tile_id, TilePtr tile) override {
    if (tile_id < next_) return;
    sink_.write(tile_id, std::move(tile));
    next_ = tile_id + 1;
  }
  bool takes_cells() const override { return sink_.takes_cells(); }
  bool has_all() const { return next_ == tiles_; }

 private:
  TileSink& sink_;
  const std::int64_t tiles_;
  std::int64_t next_ = 0;
};

// A ResumingSink for each result.
class ResumingSinks {
 public:
  ResumingSinks(const PlannedQuery& planned, std::span<TileSink* const> sinks) {
    for (std::size_t n = 0; n < sinks.size(); ++n) all_.emplace_back(*sinks[n], planned.result_grid(n).tile_count());
    for (auto& sink : all_) sinks_.push_back(&sink);
  }
  ResumingSinks(const ResumingSinks&) = delete;
  ResumingSinks& operator=(const ResumingSinks&) = delete;

  std::span<TileSink* const> all() const { return sinks_; }
  bool have_all() const {
    return std::all_of(all_.begin(), all_.end(), [](const ResumingSink& sink) { return sink.has_all(); });
  }

 private:
  std::deque<ResumingSink> all_;
  std::vector<TileSink*> sinks_;
};

}  // namespace

ClusterProfile DistributedQuery::collect(ExecutionContext& context, std::span<TileSink* const> sinks) {
  ResumingSinks results(planned_, sinks);
  return until_it_succeeds(std::vector<bool>(sinks.size(), false), [&](Attempt& attempt) {
    try {
      return attempt.run(context, results.all(), {});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::WorkerLost || !results.have_all()) throw;
      return attempt.describe();
    }
  });
}

ClusterProfile DistributedQuery::store(ExecutionContext& context, std::span<const StoredResult> results,
                                       std::span<TileSink* const> sinks) {
  auto& connection = session_.database.connection();
  auto* contents = ShardedContents::of(connection);
  CHECK(contents != nullptr, "a sharded tensor is made where there are workers");
  ResumingSinks others(planned_, sinks);
  std::vector<bool> stored;
  std::int64_t tiles = 0;
  for (const auto& result : results) {
    stored.push_back(result.tensor.is_sharded());
    if (stored.back()) tiles += result.tensor.grid.tile_count();
  }
  return until_it_succeeds(stored, [&](Attempt& attempt) {
    attempt.place_results(results);
    const auto workers = attempt.shard_workers();
    SqliteTransaction undone_unless_all_is_there(connection);  // a savepoint
    ShardedContents::Attempt announced(*contents, tiles, workers);
    std::vector<std::optional<ResultContents>> placed(results.size());
    auto next = announced.first();
    for (std::size_t n = 0; n < results.size(); ++n) {
      if (!stored[n]) continue;
      placed[n] = ResultContents{results[n].tensor.name, contents->transaction(), next, results[n].tensor.encoding,
                                 results[n].tensor.formats};
      next = ContentId{number(next) + results[n].tensor.grid.tile_count()};
    }
    auto profile = attempt.run(context, others.all(), placed);
    for (std::size_t n = 0; n < results.size(); ++n)
      if (stored[n]) attempt.write_references(connection, n, results[n], placed[n]->first, profile.reports);
    contents->prepare();  // a worker lost before this costs another attempt; one lost later does not
    undone_unless_all_is_there.commit();
    announced.keep();
    return profile;
  });
}

std::vector<double> predicted_bytes(const ClusterProfile& profile, StepId step) {
  return bytes_received(*profile.plan, step, profile.locations->holders);
}

QueryNeed DistributedQuery::need(const std::vector<bool>& stored) {
  return need_of_coordinator(planned_, plan(stored)->steps(), session_.user);
}

ClusterProfile DistributedQuery::explain() {
  return plan(std::vector<bool>(planned_.result_count(), false))->describe();
}

}  // namespace eindb
