#include "cluster/statement_run.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cluster/peer_lost.hpp"
#include "common/check.hpp"
#include "common/memory_wait.hpp"
#include "executor/executor.hpp"
#include "executor/memory_budget.hpp"
#include "executor/scheduler.hpp"
#include "plan/validator.hpp"

namespace eindb {
namespace {

// For a result that is not stored here; the coordinator receives it.
class NoSink final : public TileSink {
 public:
  void write(std::int64_t, TilePtr) override {}
  bool takes_cells() const override { return true; }
};

// The sinks for a statement's results at this worker.
class ResultSinks {
 public:
  ResultSinks(PutGate& gate, const std::vector<std::optional<ResultContents>>& results) {
    for (const auto& result : results) {
      auto& stored = stored_.emplace_back();
      if (result) stored = std::make_unique<WorkerSink>(gate, *result);
      sinks_.push_back(stored == nullptr ? static_cast<TileSink*>(&none_) : stored.get());
    }
  }
  ResultSinks(const ResultSinks&) = delete;
  ResultSinks& operator=(const ResultSinks&) = delete;

  std::span<TileSink* const> all() const { return sinks_; }

  /// Call after the last tile; returns the stored tiles.
  std::vector<std::vector<StoredTile>> finish() {
    std::vector<std::vector<StoredTile>> out;
    for (const auto& stored : stored_) {
      out.emplace_back();
      if (stored != nullptr) out.back() = stored->finish();
    }
    return out;
  }

 private:
  NoSink none_;
  std::vector<std::unique_ptr<WorkerSink>> stored_;  // null: not stored
  std::vector<TileSink*> sinks_;
};

}  // namespace

StatementRun::StatementRun(WorkerNode& node, control::Run run, OnDone on_done)
    : node_(node),
      statement_(node),
      run_(std::move(run)),
      on_done_(std::move(on_done)),
      gate_(std::make_shared<PutGate>(node.shards)),
      thread_([this] { this->run(); }) {}

void StatementRun::stop(const Error& why) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (!stopped_) when_there_is_memory([&] { stopped_ = why; });
    cancellation_.request();
    if (exchange_ != nullptr) exchange_->abort(std::make_exception_ptr(*stopped_));
  }
  gate_->close();
}

void StatementRun::use(Exchange* exchange) noexcept {
  const std::lock_guard lock(mutex_);
  exchange_ = exchange;
  if (exchange_ != nullptr && stopped_) exchange_->abort(std::make_exception_ptr(*stopped_));
}

void StatementRun::run() noexcept {
  control::Done done{run_.statement, {}, {}};
  try {
    const CancellationScope scope(cancellation_);
    done.outcome = execute();
  } catch (...) {
    const auto error = std::current_exception();
    done.outcome = reason_of(error);
    done.damaged = std::move(damaged_);
    done.unreachable = lost_peer(error);
  }
  statement_->count_memory_of(nullptr);  // before on_done_, which may start a statement that needs this memory
  on_done_(std::move(done));
  statement_.reset();
}

// After stop() the reason is its argument, whatever error ended the work.
RemoteError StatementRun::reason_of(const std::exception_ptr& error) const {
  const std::lock_guard lock(mutex_);
  return stopped_ ? RemoteError::of(*stopped_) : RemoteError::of(error);
}

PlacedPlan StatementRun::decode() const {
  auto placed = decode_plan(run_.plan);
  validate(placed.plan, placed.holders);
  if (run_.addresses.size() != placed.plan.ranks || run_.rank >= placed.plan.ranks)
    throw Error(ErrorKind::Corrupt, "a statement has an address for each of its ranks");
  if (!run_.results.empty() && run_.results.size() != placed.plan.results.size())
    throw Error(ErrorKind::Corrupt, "a statement says of each of its results where it is stored");
  return placed;
}

RankReport StatementRun::execute() {
  const auto placed = decode();
  const auto exchange =
      node_.exchanges.open({run_.statement, run_.rank, placed.plan.coordinator, run_.addresses}, cancellation_);
  use(exchange.get());
  try {
    auto report = execute(placed, *exchange);
    use(nullptr);
    statement_->count_bytes_of(exchange->counters());
    return report;
  } catch (...) {
    exchange->abort(std::current_exception());  // ends the statement at the other ranks, too
    use(nullptr);
    throw;
  }
}

RankReport StatementRun::execute(const PlacedPlan& placed, Exchange& exchange) {
  CHECK(exchange.rank() == run_.rank && exchange.size() == placed.plan.ranks,
        "a statement has the exchange of its ranks");
  auto share = node_.memory().take(run_.memory_limit);
  const auto budget = MemoryBudget::create(share->bytes(), node_.options.scratch_directory);
  budget->keep(std::move(share));
  budget->advise([](std::int64_t) {
    return std::string("start the worker with a greater --memory-limit, or run fewer statements at a time");
  });
  statement_->count_memory_of(budget);
  const auto threads = run_.threads == 0 ? node_.options.threads : std::min(run_.threads, node_.options.threads);
  CHECK(threads > 0, "a statement has a thread");
  Scheduler scheduler(static_cast<int>(threads));
  WorkerTiles source(node_.shards, placed, run_.rank, run_.contents);
  ExecutionContext context{scheduler, cancellation_, budget, source, {}};
  try {
    return execute(placed, exchange, context);
  } catch (...) {
    // Before the search for further damage, so that no other rank waits for this one.
    exchange.abort(std::current_exception());
    damaged_ = source.damaged();
    throw;
  }
}

RankReport StatementRun::execute(const PlacedPlan& placed, Exchange& exchange, ExecutionContext& context) {
  auto results = run_.results;
  results.resize(placed.plan.results.size());
  ResultSinks sinks(*gate_, results);
  CHECK(sinks.all().size() == placed.plan.results.size(), "every result has a sink");
  auto profile = eindb::execute(placed.plan, placed.holders, exchange, context, sinks.all());
  if (run_.results.empty()) return {std::move(profile), {}};
  node_.note_change();
  return {std::move(profile), sinks.finish()};
}

}  // namespace eindb
