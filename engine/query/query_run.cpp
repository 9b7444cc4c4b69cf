#include "engine/query/query_run.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "engine/query/memory_checks.hpp"
#include "executor/cutting_sink.hpp"
#include "executor/executor.hpp"
#include "executor/least_memory.hpp"
#include "executor/single_rank_exchange.hpp"
#include "tensor/cell_block.hpp"

namespace eindb {
namespace {

// The stored tensors that the query reads.
std::vector<const InputTensor*> stored_inputs(const EinGraph& graph) {
  std::vector<const InputTensor*> tensors;
  for (const auto& vertex : graph.vertices())
    if (vertex.stored && !vertex.stored->attached) tensors.push_back(&*vertex.stored);
  return tensors;
}

// Empty where nobody looks at it: a run then takes no time for it.
std::function<void(std::string_view, std::int64_t, std::int64_t)> progress_of(const SessionState& session) {
  if (!session.user.progress || !session.user.settings.progress()) return {};
  return [&session](std::string_view stage, std::int64_t done, std::int64_t total) {
    session.statement.report(stage, done, total);
  };
}

// Names are looked up behind the begin of the cache's statement, of which their numbers are.
std::shared_ptr<const StoredInputs> inputs_of(const PlannedQuery& planned, SessionState& session,
                                              std::uint64_t version) {
  auto& database = session.database;
  return planned.shared->inputs.at(version, !database.unwritten.empty(), [&] {
    return std::make_shared<const StoredInputs>(database.catalog, stored_inputs(planned.plan.graph), database.tiles,
                                                database.unwritten);
  });
}

}  // namespace

QueryRun::QueryRun(const PlannedQuery& planned, SessionState& session, ReadSnapshot& snapshot,
                   const std::function<QueryNeed()>& need)
    : QueryRun(planned, session, snapshot, need, session.database.connection().current_data_version()) {}

QueryRun::QueryRun(const PlannedQuery& planned, SessionState& session, ReadSnapshot& snapshot,
                   const std::function<QueryNeed()>& need, std::uint64_t version)
    : admission_(QueryAdmission::enter(need, session)),
      memory_(QueryAdmission::budget(admission_, session)),
      cached_(session.database.tiles, memory_, version, session.user.settings.tile_cache_size()),
      kept_(session.database.tiles, session.database.unwritten, *memory_),
      stored_(snapshot, inputs_of(planned, session, version), session.database.tiles, memory_),
      source_(session.database.attached, stored_),
      context_{.scheduler = session.user.scheduler(),
               .cancellation = session.statement.cancellation(),
               .memory = memory_,
               .source = source_,
               .progress = progress_of(session)} {}

void QueryRun::bring_tiles(const PlannedQuery& planned) { stored_.bring(stored_inputs(planned.plan.graph)); }

namespace {

// The sinks of a query, behind some that cut what arrives in other tiles than the results have.
class CutResults {
 public:
  CutResults(const PlannedQuery& planned, const std::shared_ptr<MemoryBudget>& memory, std::span<TileSink* const> sinks)
      : sinks_(sinks.begin(), sinks.end()) {
    for (std::size_t n = 0; n < sinks_.size(); ++n) {
      const auto& delivered = planned.plan.fragment().sink(n).grid;
      if (delivered == planned.result_grid(n)) continue;
      cutting_.push_back(std::make_unique<CuttingSink>(delivered, planned.result_grid(n), *sinks_[n]));
      cutting_.back()->begin(memory);
      sinks_[n] = cutting_.back().get();
    }
  }
  std::span<TileSink* const> sinks() const { return sinks_; }

 private:
  std::vector<std::unique_ptr<CuttingSink>> cutting_;
  std::vector<TileSink*> sinks_;
};

// Takes dense tiles where whoever takes the result was told that it is of cells.
class SparseSink final : public TileSink {
 public:
  SparseSink(TileSink& to, std::shared_ptr<MemoryBudget> memory) : to_(to), memory_(std::move(memory)) {}
  void write(std::int64_t tile_id, TilePtr tile) override {
    if (tile == nullptr || tile->is_of_cells() || !to_.takes_cells()) return to_.write(tile_id, std::move(tile));
    auto cells = std::make_shared<const CellBlock>(CellBlock::of_dense(tile->dtype(), tile->shape(), tile->bytes()));
    to_.write(tile_id, cells->count() == 0 ? nullptr : memory_->track(Tile::of_cells(std::move(cells))));
  }
  bool takes_cells() const override { return to_.takes_cells(); }

 private:
  TileSink& to_;
  std::shared_ptr<MemoryBudget> memory_;
};

// The sinks of the results that are left.
class SinksOfRest {
 public:
  SinksOfRest(const PlannedQuery& whole, const Replanner::Rest& rest, const std::shared_ptr<MemoryBudget>& memory,
              std::span<TileSink* const> results) {
    for (std::size_t n = 0; n < rest.results.size(); ++n) {
      const auto number = rest.results[n];
      sinks_.push_back(results[number]);
      if (!whole.holds_cells(number) || rest.planned.holds_cells(n)) continue;
      sparse_.push_back(std::make_unique<SparseSink>(*results[number], memory));
      sinks_.back() = sparse_.back().get();
    }
  }
  std::span<TileSink* const> sinks() const { return sinks_; }

 private:
  std::vector<std::unique_ptr<SparseSink>> sparse_;
  std::vector<TileSink*> sinks_;
};

std::shared_ptr<const PlannedAgain> run_rest(const PlannedQuery& whole, Replanner::Rest rest, SessionState& session,
                                             ExecutionContext& context, std::span<TileSink* const> results) {
  const SinksOfRest sinks(whole, rest, context.memory, results);
  ComputedTiles source(context.source, context.memory, std::move(rest.computed));
  ExecutionContext of_rest{.scheduler = context.scheduler,
                           .cancellation = context.cancellation,
                           .memory = context.memory,
                           .source = source,
                           .progress = context.progress};
  auto run = execute_here(rest.planned, session, of_rest, sinks.sinks());
  return std::make_shared<const PlannedAgain>(PlannedAgain{.vertex = std::move(rest.vertex),
                                                           .expected = rest.expected,
                                                           .found = rest.found,
                                                           .planned = std::move(rest.planned),
                                                           .profile = std::move(run.profile),
                                                           .next = std::move(run.again)});
}

}  // namespace

LocalRun execute_here(const PlannedQuery& planned, SessionState& session, ExecutionContext& context,
                      std::span<TileSink* const> results) {
  const CutResults cut(planned, context.memory, results);
  const auto sinks = cut.sinks();
  Replanner replanner(planned, session, *context.memory);
  const auto run = [&](const PhysicalPlan& plan) {
    try {
      return execute(plan, {}, single_rank(), context, sinks);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::MemoryLimit) throw;
      const auto least = least_memory(*plan.fragment());
      if (least <= context.memory->limit()) throw;
      refuse_for_calls(planned, least, session.user.settings);
    }
  };
  const auto& plan = planned.plan.physical;
  context.runs = planned.shared->parameters.empty() ? &planned.shared->runs : nullptr;
  context.watch = planned.plan.fragment().checkpoints.empty() ? nullptr : &replanner;
  LocalRun out{planned.shared->parameters.empty() ? run(plan) : run(with_values(plan, session.statement.parameters()))};
  context.watch = nullptr;
  if (auto& rest = replanner.rest()) out.again = run_rest(planned, *std::move(rest), session, context, results);
  return out;
}

}  // namespace eindb
