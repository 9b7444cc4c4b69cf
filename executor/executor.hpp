#pragma once

#include <span>

#include "executor/execution_context.hpp"
#include "executor/execution_profile.hpp"
#include "plan/physical_plan.hpp"

namespace eindb {

/// Runs a physical plan as a graph of tasks on tiles, in parallel within and between nodes; a tile is let go after its
/// last reader. The nodes of a loop run once per slice, which frees what it holds before the next. sinks[n] gets every
/// tile of result n, from the caller's thread, in order, and as soon as it and those before it are there; tiles of
/// different results come in any order. Throws what a sink, the source or the limits throw first; sinks have then seen
/// a part of the tiles.
ExecutionProfile execute(const PhysicalPlan& plan, ExecutionContext& context, std::span<TileSink* const> sinks);
/// Of a plan with one result.
ExecutionProfile execute(const PhysicalPlan& plan, ExecutionContext& context, TileSink& sink);

}  // namespace eindb
