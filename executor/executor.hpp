#pragma once

#include "executor/execution_context.hpp"
#include "executor/execution_profile.hpp"
#include "plan/physical_plan.hpp"

namespace eindb {

/// Runs a physical plan, node by node in its order, each node in parallel over its tiles; a relation is let go after
/// its last reader. The nodes of a loop run once per slice, which frees what it holds before the next. The sink gets
/// every tile of the result. Throws what the sink, the source or the limits throw; the sink has then seen a part of the
/// tiles.
ExecutionProfile execute(const PhysicalPlan& plan, ExecutionContext& context, TileSink& sink);

}  // namespace eindb
