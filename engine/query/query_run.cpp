#include "engine/query/query_run.hpp"

#include <memory>
#include <vector>

#include "common/error.hpp"
#include "engine/query/memory_checks.hpp"
#include "executor/cutting_sink.hpp"
#include "executor/executor.hpp"
#include "executor/least_memory.hpp"
#include "executor/single_rank_exchange.hpp"

namespace eindb {
namespace {

// The stored tensors that the query reads.
std::vector<const InputTensor*> stored_inputs(const EinGraph& graph) {
  std::vector<const InputTensor*> tensors;
  for (const auto& vertex : graph.vertices())
    if (vertex.stored && !vertex.stored->attached) tensors.push_back(&*vertex.stored);
  return tensors;
}

}  // namespace

QueryRun::QueryRun(const PlannedQuery& planned, SessionState& session, ReadSnapshot& snapshot,
                   const std::function<QueryNeed()>& need)
    : admission_(QueryAdmission::enter(need, session)),
      memory_(QueryAdmission::budget(admission_, session)),
      cached_(session.database.tiles, memory_, session.database.connection().current_data_version(),
              session.user.settings.tile_cache_size()),
      kept_(session.database.tiles, session.database.unwritten, *memory_),
      inputs_(stored_inputs(planned.plan.graph)),
      stored_(snapshot, session.database.catalog, inputs_, session.database.tiles, session.database.unwritten, memory_),
      source_(session.database.attached, stored_),
      context_{.scheduler = session.user.scheduler(),
               .cancellation = session.statement.cancellation(),
               .memory = memory_,
               .source = source_,
               .progress = [&session](std::string_view stage, std::int64_t done, std::int64_t total) {
                 session.statement.report(stage, done, total);
               }} {}

void QueryRun::bring_tiles() { stored_.bring(inputs_); }

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

}  // namespace

ExecutionProfile execute_here(const PlannedQuery& planned, SessionState& session, ExecutionContext& context,
                              std::span<TileSink* const> results) {
  const CutResults cut(planned, context.memory, results);
  const auto sinks = cut.sinks();
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
  context.operators = planned.shared->parameters.empty() ? &planned.shared->operators : nullptr;
  return planned.shared->parameters.empty() ? run(plan) : run(with_values(plan, session.statement.parameters()));
}

}  // namespace eindb
