#include "executor/executor.hpp"

#include "executor/plan_run.hpp"

namespace eindb {

ExecutionProfile execute(const PhysicalPlan& plan, ExecutionContext& context, std::span<TileSink* const> sinks) {
  return PlanRun(plan, context, sinks).run();
}

ExecutionProfile execute(const PhysicalPlan& plan, ExecutionContext& context, TileSink& sink) {
  TileSink* const sinks[] = {&sink};
  return execute(plan, context, sinks);
}

}  // namespace eindb
