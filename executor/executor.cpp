#include "executor/executor.hpp"

#include <exception>
#include <utility>

#include "common/check.hpp"
#include "executor/kept_runs.hpp"
#include "executor/plan_run.hpp"
#include "executor/steps_run.hpp"

namespace eindb {

ExecutionProfile execute(const PhysicalPlan& plan, std::span<const TileHolders> lists, Exchange& exchange,
                         ExecutionContext& context, std::span<TileSink* const> sinks) {
  try {
    CHECK(plan.ranks == exchange.size() && lists.size() == plan.holder_lists,
          "a plan runs on as many ranks, and with as many lists, as it was made for");
    if (const auto* fragment = plan.fragment()) return run_fragment(*fragment, context, sinks);
    return StepsRun(plan, lists, exchange, context, sinks).run();
  } catch (...) {
    exchange.abort(std::current_exception());
    throw;
  }
}

ExecutionProfile run_fragment(const Fragment& fragment, ExecutionContext& context, std::span<TileSink* const> sinks) {
  if (context.runs == nullptr) return PlanRun(fragment, PlanRun::conditions_of(context)).run(context, sinks);
  auto run = context.runs->take(fragment, context);
  auto profile = run->run(context, sinks);
  context.runs->give(std::move(run));
  return profile;
}

ExecutionProfile run_fragment(const Fragment& fragment, ExecutionContext& context, TileSink& sink) {
  TileSink* const sinks[] = {&sink};
  return run_fragment(fragment, context, sinks);
}

}  // namespace eindb
