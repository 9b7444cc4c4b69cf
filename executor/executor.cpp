#include "executor/executor.hpp"

#include "executor/plan_run.hpp"

namespace eindb {

ExecutionProfile execute(const PhysicalPlan& plan, ExecutionContext& context, TileSink& sink) {
  return PlanRun(plan, context, sink).run();
}

}  // namespace eindb
