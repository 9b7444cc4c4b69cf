#pragma once

#include <span>

#include "executor/execution_context.hpp"
#include "executor/execution_profile.hpp"
#include "plan/physical_plan.hpp"

namespace eindb {

/// Runs a physical plan as a graph of tasks on tiles, in parallel within and between nodes. A tile is released after
/// its last reader. The nodes of a loop run once per slice; memory of one slice is freed before the next. sinks[n]
/// receives every tile of result n from the caller's thread, in order, as soon as the tile and all before it are
/// finished; tiles of different results may come in any order. Throws the first error of a sink, the source or a limit;
/// sinks may have received some of the tiles.
ExecutionProfile execute(const PhysicalPlan& plan, ExecutionContext& context, std::span<TileSink* const> sinks);
/// For a plan with one result.
ExecutionProfile execute(const PhysicalPlan& plan, ExecutionContext& context, TileSink& sink);

}  // namespace eindb
