#include "engine/distributed_query.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "cluster/memory_shares.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "engine/tile_endpoints.hpp"
#include "executor/distributed_run.hpp"
#include "optimizer/distributed_planner.hpp"
#include "optimizer/partitions/placement.hpp"
#include "optimizer/partitions/worker_choice.hpp"
#include "plan/tile_moves.hpp"
#include "storage/shard_log.hpp"
#include "storage/sharded_contents.hpp"
#include "storage/sqlite_transaction.hpp"
#include "storage/stored_references.hpp"
#include "storage/tile_store.hpp"
#include "tensor/tile_placement.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kCallsPerThread = 4;
// Workers that come back while a statement runs, and are lost again.
constexpr std::size_t kMostReturns = 2;
// From the first failure on, in which a statement is planned again.
constexpr std::chrono::seconds kReplanningTime{30};

using Clock = std::chrono::steady_clock;

std::string state_of(const WorkerStatus& worker) {
  return worker.address + " is " + std::string(name_of(worker.state)) +
         (worker.reason.empty() ? "" : " (" + worker.reason + ")");
}

// A statement that cannot do without workers that were left out.
Error not_reached(const Cluster& cluster, const std::string& message) {
  std::string pairs;
  for (const auto& worker : cluster.workers())
    if (worker.state == WorkerState::Up && !worker.reason.empty()) pairs += "; " + state_of(worker);
  return {ErrorKind::WorkerLost, message + pairs, std::nullopt,
          "mend the way between them: name workers in --workers by addresses at which they reach each other, and open "
          "their ports between them; after SET workers = 0 statements run here, and fetch what they read"};
}

// As if they were there.
std::vector<WorkerStatus> imagined_workers(std::int64_t count) {
  std::vector<WorkerStatus> workers(static_cast<std::size_t>(count));
  for (std::size_t n = 0; n < workers.size(); ++n) workers[n].address = "worker " + std::to_string(n);
  return workers;
}

// All of them, where the coordinator is one rank among them.
std::vector<WorkerStatus> all_workers_up(const Cluster& cluster) {
  auto workers = cluster.workers();
  for (const auto& worker : workers)
    if (worker.state != WorkerState::Up)
      throw Error(ErrorKind::WorkerLost, "statements need all ranks, and " + state_of(worker), std::nullopt,
                  "SHOW WORKERS tells more; after SET workers = 0 statements run here");
  return workers;
}

// The workers that statements can use. Error{WorkerLost} if there are none.
std::vector<WorkerStatus> workers_up(const Cluster& cluster) {
  std::vector<WorkerStatus> up;
  std::string states;
  for (auto& worker : cluster.workers()) {
    states += (states.empty() ? "" : ", ") + state_of(worker);
    if (worker.state == WorkerState::Up) up.push_back(std::move(worker));
  }
  if (up.empty())
    throw Error(ErrorKind::WorkerLost, "no worker of the cluster is up: " + states, std::nullopt,
                "SHOW WORKERS tells more; after SET workers = 0 statements run here");
  return up;
}

using Workers = std::vector<WorkerStatus>;

// Which of these can run a statement together, the most first: no two that do not exchange data, and none that the
// coordinator does not exchange data with.
std::vector<Workers> that_reach_each_other(const Workers& up, const std::vector<BrokenPair>& broken) {
  const auto number_of = [](const Workers& workers, DataId data) {
    return static_cast<std::size_t>(
        std::find_if(workers.begin(), workers.end(), [&](const auto& worker) { return worker.data == data; }) -
        workers.begin());
  };
  auto reached = up;
  for (const auto& pair : broken)
    if (pair.one == DataId{}) std::erase_if(reached, [&](const auto& worker) { return worker.data == pair.other; });
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (const auto& pair : broken) {
    const auto one = number_of(reached, pair.one);
    const auto other = number_of(reached, pair.other);
    if (one < reached.size() && other < reached.size()) pairs.emplace_back(one, other);
  }
  std::vector<Workers> choices;
  for (const auto& left_out : ways_without_pairs(reached.size(), pairs)) {
    auto& choice = choices.emplace_back();
    for (std::size_t n = 0; n < reached.size(); ++n)
      if (!std::binary_search(left_out.begin(), left_out.end(), n)) choice.push_back(reached[n]);
  }
  return choices;
}

// Whom a statement may run on: one of these, the first that has what it reads.
std::vector<Workers> choices_of_workers(const SessionState& session) {
  if (session.database.cluster == nullptr) return {imagined_workers(session.user.settings.workers())};
  if (session.database.cluster->coordinator_computes()) return {all_workers_up(*session.database.cluster)};
  return that_reach_each_other(workers_up(*session.database.cluster), session.database.cluster->broken_pairs());
}

// How many ranks may compute. The others take part with the tiles that lie there.
std::size_t computing_ranks(const SessionState& session, std::size_t workers) {
  const bool computes = session.database.cluster != nullptr && session.database.cluster->coordinator_computes();
  return std::min(workers + (computes ? 1 : 0), static_cast<std::size_t>(session.user.settings.workers()));
}

// Of a tensor that a plan reads.
struct PlannedInput {
  InputTensor tensor;
  std::optional<std::set<std::int64_t>> needed = std::set<std::int64_t>{};  // tiles; nullopt: all

  void add(const InputTensor& scanned) {
    if (!scanned.selection) needed.reset();
    if (!needed) return;
    const auto grid = scanned.selection->grid();
    for (std::int64_t tile = 0; tile < grid.tile_count(); ++tile)
      needed->insert(scanned.selection->stored_tile(grid.key_of(tile)));
  }
  bool needs(std::int64_t tile) const { return !needed || needed->contains(tile); }
};

std::int64_t ceil_power_of_two(std::size_t value) { return static_cast<std::int64_t>(std::bit_ceil(value)); }

// Partition vectors for so many ranks that compute: those of the plan, if it was made for as many.
Labelling labelling_for(const PlannedQuery& planned, const SessionState& session, std::size_t computing) {
  const auto parallelism =
      session.user.settings.parallelism_is_set() ? planned.plan.parallelism : ceil_power_of_two(computing);
  if (planned.plan.parallelism == parallelism) return planned.plan.labelling;
  return label_for_workers(planned.plan.graph, session.user.settings.strategy(), {parallelism, false, {}},
                           static_cast<std::int64_t>(computing));
}

// Of what a rank has for tiles, kernel calls work on one part, and what is on its way to or from the others, a piece of
// a tile each, is in another; the rest is for tiles that wait.
constexpr double kCallShare = 0.5;
constexpr double kMovingShare = 0.25;

void fit_moves(ClusterShape& shape, double memory) {
  const auto moving = 2 * static_cast<double>(shape.ranks - 1);
  shape.most_tile_bytes = std::min(shape.most_tile_bytes, kMovingShare * memory / moving);
}

void fit_calls(ClusterShape& shape, double memory, double threads) {
  shape.most_call_bytes = std::min(shape.most_call_bytes, kCallShare * memory / threads);
}

}  // namespace

// A plan for workers, and where what it reads lies.
class DistributedQuery::Attempt {
 public:
  /// `stored`: of each result, whether workers store it. Error{WorkerLost} if none of the workers has a tile that is
  /// read.
  Attempt(const PlannedQuery& planned, SessionState& session, const std::vector<bool>& stored, Workers workers)
      : planned_(planned),
        session_(session),
        workers_(std::move(workers)),
        computing_(computing_ranks(session, workers_.size())),
        plan_(make_plan(stored)) {
    find_inputs();
  }

  const DistributedPlan& plan() const { return plan_; }
  const std::vector<TileHolders>& holders() const { return holders_; }
  std::size_t worker_count() const { return workers_.size(); }

  // Where workers store the tiles of a result, after those before it: where they are made, as far as that is in its
  // tiles and at a worker; copies at the workers that follow.
  void place_result(std::size_t result, const TensorInfo& tensor) {
    CHECK(list_of(result) == holders_.size(), "the lists of stored results follow those of inputs, in order");
    const auto stores = ranks_with_room(tensor);
    const TilePlacement fallback(tensor.grid, stores.size(), static_cast<std::size_t>(tensor.replicas));
    const auto& made = plan_.step(inputs_of(plan_.step(plan_.results[result])).front());
    const auto* blocks = std::get_if<BlockPlacement>(&made.placement);
    TileHolders holders;
    for (std::int64_t tile = 0; tile < tensor.grid.tile_count(); ++tile) {
      auto places = fallback.of(tile);  // in `stores`
      const auto maker = blocks == nullptr ? std::nullopt : maker_of(*blocks, tensor.grid, tile);
      if (const auto found = maker ? std::find(stores.begin(), stores.end(), *maker) : stores.end();
          found != stores.end())
        for (std::size_t n = 0; n < places.size(); ++n)
          places[n] = static_cast<Rank>((static_cast<std::size_t>(found - stores.begin()) + n) % stores.size());
      std::vector<Rank> ranks;
      for (const auto place : places) ranks.push_back(stores[place]);
      std::sort(ranks.begin(), ranks.end());
      holders.ranks.insert(holders.ranks.end(), ranks.begin(), ranks.end());
      holders.begin.push_back(static_cast<std::uint32_t>(holders.ranks.size()));
    }
    holders_.push_back(std::move(holders));
    contents_.emplace_back();
  }

  std::vector<ShardWorker> shard_workers() const {
    std::vector<ShardWorker> out;
    for (const auto& worker : workers_) out.push_back({worker.data, worker.address});
    return out;
  }

  // Rows for what workers have stored of a result, as they report.
  void write_references(SqliteConnection& connection, std::size_t result, const StoredResult& stored, ContentId first,
                        const std::vector<RankReport>& reports) const {
    const auto& tensor = stored.tensor;
    const auto& holders = holders_[list_of(result)];
    std::map<std::int64_t, PutContent> put;
    for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
      if (result >= reports[rank].stored.size())
        throw Error(ErrorKind::Corrupt, "a worker does not report what it stored of " + tensor.name);
      for (const auto& [tile, bytes, checksum] : reports[rank].stored[result]) {
        auto& content = put[tile];
        if (!content.workers.empty() && content.checksum != checksum)
          throw Error(ErrorKind::Corrupt, "workers disagree about a tile of " + tensor.name);
        content.content = ContentId{number(first) + tile};
        content.bytes = bytes;
        content.checksum = checksum;
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
    ClusterStatement statement{plan_, holders_, {}, contents_, std::move(results), 0, 0};
    for (const auto& worker : workers_) statement.workers.push_back(worker.data);
    auto profile = describe();
    if (auto* contents = ShardedContents::of(session_.database.connection())) contents->prepare();
    profile.reports = session_.database.cluster->run(
        statement, session_.statement.cancellation(), [&](Exchange& exchange, const Cancellation& cancellation) {
          ExecutionContext own{context.scheduler, cancellation, context.memory, context.source, context.progress};
          return execute(plan_, holders_, exchange, own, sinks);
        });
    return profile;
  }

  // Copies of what the plan reads that were found damaged are written anew from others, as far as there are any. What
  // is dropped by others meanwhile stays where it is: the statement reads a state in which it is there.
  void mend_copies() const {
    auto& connection = session_.database.connection();
    const auto is_damaged = damage_known_to(connection);
    std::set<std::size_t> mended;
    for (const auto& step : plan_.steps) {
      const auto* scan = std::get_if<ScanStep>(&step.op);
      if (scan == nullptr || !mended.insert(scan->holders).second) continue;
      for (const auto& [tile, reference] : references_[scan->holders]) {
        const auto content = reference.content;
        if (std::any_of(reference.workers.begin(), reference.workers.end(),
                        [&](WorkerNumber worker) { return is_damaged(worker, content); }))
          session_.database.catalog.get(scan->tensor.name).store().mend(connection, tile);
      }
    }
  }

  ClusterProfile describe() const {
    ClusterProfile profile{plan_, computing_, {}, {}, {}};
    for (const auto& worker : workers_) profile.ranks.push_back(worker.address);
    profile.ranks.emplace_back("coordinator");
    for (std::size_t n = 0; n < plan_.steps.size(); ++n)
      profile.predicted_bytes.push_back(bytes_received(plan_, StepId(n), holders_));
    return profile;
  }

 private:
  // Those whose disks have room for their part of the tensor, as if all of it were there; where these are too few for
  // its copies, those with any room. Error{Io} names the workers without if these are too few, too.
  std::vector<Rank> ranks_with_room(const TensorInfo& tensor) const {
    std::vector<Rank> ranks;
    std::string full;
    for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
      if (!workers_[rank].is_full()) ranks.push_back(static_cast<Rank>(rank));
      else full += (full.empty() ? "" : ", ") + workers_[rank].address;
    }
    const auto copies = std::min(static_cast<std::size_t>(tensor.replicas), workers_.size());
    if (ranks.size() < copies)
      throw Error(
          ErrorKind::Io, "tensor " + tensor.name + " cannot be stored: the disks of these workers are full: " + full,
          std::nullopt, "drop tensors, make room on these disks, or add workers; SHOW WORKERS tells who has room");
    while (true) {
      const auto makers = static_cast<double>(std::min(ranks.size(), std::bit_floor(computing_)));
      const auto part = static_cast<double>(tensor.dense_bytes()) * std::min(1.0, static_cast<double>(copies) / makers);
      std::vector<Rank> roomy;
      for (const auto rank : ranks)
        if (static_cast<double>(workers_[rank].load.bytes_free) >= part) roomy.push_back(rank);
      if (roomy.size() == ranks.size() || roomy.size() < copies) return ranks;
      ranks = std::move(roomy);
    }
  }

  // The list that says where a stored result lies.
  std::size_t list_of(std::size_t result) const {
    return std::get<std::size_t>(plan_.step(plan_.results[result]).placement);
  }

  DistributedPlan make_plan(const std::vector<bool>& stored) const {
    const auto computing = static_cast<std::int64_t>(computing_);
    const auto labelling = labelling_for(planned_, session_, computing_);
    std::uint32_t threads = 1;
    for (const auto& worker : workers_) threads = std::max(threads, worker.threads);
    ClusterShape shape{.ranks = workers_.size() + 1,
                       .coordinator = static_cast<Rank>(workers_.size()),
                       .computing = computing,
                       .calls_per_rank = kCallsPerThread * threads,
                       .by_collectives = session_.user.settings.redistributes_by_collectives()};
    fit_memory(shape);
    std::vector<DistributedResult> results;
    for (std::size_t n = 0; n < stored.size(); ++n) results.push_back({planned_.result_grid(n), stored[n]});
    auto plan = plan_distributed(planned_.plan.graph, labelling, place(planned_.plan.graph, labelling, computing),
                                 shape, results);
    return planned_.shared->parameters.empty() ? plan : with_values(std::move(plan), session_.statement.parameters());
  }

  // Of every rank. Workers that are imagined have this machine's.
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

  void find_inputs() {
    holders_.resize(plan_.holder_lists);
    contents_.resize(plan_.holder_lists);
    references_.resize(plan_.holder_lists);
    std::map<std::size_t, PlannedInput> found;
    for (const auto& step : plan_.steps)
      if (const auto* scan = std::get_if<ScanStep>(&step.op))
        found.try_emplace(scan->holders, PlannedInput{scan->tensor}).first->second.add(scan->tensor);
    for (const auto& [list, input] : found) find_input(input, list);
    // The lists of results are yet to come.
    holders_.resize(found.size());
    contents_.resize(found.size());
  }

  void find_input(const PlannedInput& input, std::size_t list) {
    const auto& tensor = input.tensor;
    const auto coordinator = plan_.coordinator;
    auto& connection = session_.database.connection();
    if (tensor.attached) {
      const auto& grid = tensor.selection ? tensor.selection->stored : tensor.grid;
      holders_[list] = all_at(coordinator, grid.tile_count());
      return;
    }
    const auto info = session_.database.catalog.get(tensor.name);
    if (session_.database.cluster == nullptr) {
      holders_[list] = TilePlacement(info.grid, workers_.size(), 1).all();
      return;
    }
    if (!info.is_sharded()) {
      holders_[list] = holders_of_own(connection, info.store(), coordinator);
      return;
    }
    references_[list] = read_references(connection, info.store());
    const auto ranks = ranks_of_workers(connection);
    CopyRules rules;
    rules.rank_of = [&](WorkerNumber worker) -> std::optional<Rank> {
      const auto known = ranks.find(worker);
      return known == ranks.end() ? std::nullopt : std::optional(known->second);
    };
    rules.is_damaged = damage_known_to(connection);
    rules.is_needed = [&](std::int64_t tile) { return input.needs(tile); };
    holders_[list] = holders_of(connection, info.store(), references_[list], rules);
    auto& contents = contents_[list];
    contents.resize(static_cast<std::size_t>(info.grid.tile_count()));
    for (const auto& [tile, reference] : references_[list])
      contents[static_cast<std::size_t>(tile)] = reference.content;
  }

  std::function<bool(WorkerNumber, ContentId)> damage_known_to(SqliteConnection& connection) const {
    return [this, workers = ShardLog(connection).workers()](WorkerNumber worker, ContentId content) {
      const auto known = workers.find(worker);
      return known != workers.end() &&
             session_.database.cluster->damaged_copies().contains(known->second.data, content);
    };
  }

  static TileHolders all_at(Rank rank, std::int64_t tiles) {
    TileHolders holders;
    holders.ranks.assign(static_cast<std::size_t>(tiles), rank);
    for (std::int64_t n = 1; n <= tiles; ++n) holders.begin.push_back(static_cast<std::uint32_t>(n));
    return holders;
  }

  std::map<WorkerNumber, Rank> ranks_of_workers(SqliteConnection& connection) const {
    std::map<DataId, Rank> by_data;
    for (std::size_t n = 0; n < workers_.size(); ++n) by_data[workers_[n].data] = static_cast<Rank>(n);
    std::map<WorkerNumber, Rank> ranks;
    for (const auto& [number, worker] : ShardLog(connection).workers())
      if (const auto known = by_data.find(worker.data); known != by_data.end()) ranks[number] = known->second;
    return ranks;
  }

  // The first worker that has the block which the tile lies in; nullopt if tiles do not lie in blocks.
  std::optional<Rank> maker_of(const BlockPlacement& blocks, const TileGrid& grid, std::int64_t tile) const {
    auto block = grid.key_of(tile);
    for (std::size_t d = 0; d < block.size(); ++d) {
      const auto parts = grid.partition()[d];
      if (parts % blocks.parts[d] != 0) return std::nullopt;
      block[d] /= parts / blocks.parts[d];
    }
    for (std::size_t rank = 0; rank < workers_.size(); ++rank)
      if (blocks.at[rank] == block) return static_cast<Rank>(rank);
    return std::nullopt;
  }

  const PlannedQuery& planned_;
  SessionState& session_;
  std::vector<WorkerStatus> workers_;  // that are up, by rank
  std::size_t computing_;              // ranks that may compute, from 0 on
  DistributedPlan plan_;
  std::vector<TileHolders> holders_;
  std::vector<std::vector<ContentId>> contents_;
  std::vector<std::vector<StoredReference>> references_;  // of each list of a sharded input
};

std::int64_t DistributedQuery::damage_noticed() const {
  return session_.database.cluster == nullptr ? 0 : session_.database.cluster->damaged_copies().noticed();
}

// On the first choice of workers that has all that is read. If none has, as two that have it do not reach each other,
// the error says so.
std::unique_ptr<DistributedQuery::Attempt> DistributedQuery::plan(const std::vector<bool>& stored) {
  const auto choices = choices_of_workers(session_);
  if (choices.empty()) throw not_reached(*session_.database.cluster, "no worker exchanges data with the coordinator");
  for (const auto& workers : choices) {
    try {
      return std::make_unique<Attempt>(planned_, session_, stored, workers);
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
      // With each worker that is lost there are fewer; one that comes and goes all the time is no reason to go on.
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

// Of a result that is made again, what the sink has not got yet: an attempt can fail while it is handed over, or after
// that, when a worker is lost before it has told that it has ended.
class ResumingSink final : public TileSink {
 public:
  ResumingSink(TileSink& sink, std::int64_t tiles) : sink_(sink), tiles_(tiles) {}
  void write(std::int64_t tile_id, TilePtr tile) override {
    if (tile_id < next_) return;
    sink_.write(tile_id, std::move(tile));
    next_ = tile_id + 1;
  }
  bool has_all() const { return next_ == tiles_; }

 private:
  TileSink& sink_;
  const std::int64_t tiles_;
  std::int64_t next_ = 0;
};

// The sinks of all results.
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
    const auto workers = attempt.shard_workers();
    SqliteTransaction undone_unless_all_is_there(connection);  // a savepoint
    ShardedContents::Attempt announced(*contents, tiles, workers);
    std::vector<std::optional<ResultContents>> placed(results.size());
    auto next = announced.first();
    for (std::size_t n = 0; n < results.size(); ++n) {
      if (!stored[n]) continue;
      attempt.place_result(n, results[n].tensor);
      placed[n] = ResultContents{results[n].tensor.name, contents->transaction(), next};
      next = ContentId{number(next) + results[n].tensor.grid.tile_count()};
    }
    auto profile = attempt.run(context, others.all(), placed);
    for (std::size_t n = 0; n < results.size(); ++n)
      if (stored[n]) attempt.write_references(connection, n, results[n], placed[n]->first, profile.reports);
    contents->prepare();  // a worker that is lost before costs another attempt, and none that is lost after
    undone_unless_all_is_there.commit();
    announced.keep();
    return profile;
  });
}

ClusterProfile DistributedQuery::explain() {
  return plan(std::vector<bool>(planned_.result_count(), false))->describe();
}

}  // namespace eindb
