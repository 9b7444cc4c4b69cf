#pragma once

#include "executor/execution_context.hpp"
#include "executor/execution_profile.hpp"
#include "plan/physical_plan.hpp"

namespace eindb {

/// Runs a physical plan as a graph of tasks on tiles, in parallel within and between nodes; a tile is let go after its
/// last reader. The nodes of a loop run once per slice, which frees what it holds before the next. The sink gets every
/// tile of the result, from the caller's thread and as soon as it and those before it are there. Throws what the sink,
/// the source or the limits throw first; the sink has then seen a part of the tiles.
ExecutionProfile execute(const PhysicalPlan& plan, ExecutionContext& context, TileSink& sink);

}  // namespace eindb
