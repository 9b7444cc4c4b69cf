#pragma once

#include <span>

#include "executor/exchange.hpp"
#include "executor/execution_context.hpp"
#include "executor/execution_profile.hpp"
#include "plan/physical_plan.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// Runs one rank's part of a plan: all ranks of `exchange` call this with the same plan and lists, which validate()
/// accepts (plan/validator); a plan for one rank takes single_rank() (executor/single_rank_exchange) and no lists.
/// context.source has the tiles of stored tensors that lists say this rank holds; sinks[n] gets those of result n that
/// it holds, in order of tile_id, from the caller's thread. Tiles of different results come in any order.
///
/// Throws what a sink, the source, the limits or the exchange throw first. Whatever it is, the exchange has been
/// aborted with it, so that the other ranks end, too; sinks have then seen a part of the tiles.
ExecutionProfile execute(const PhysicalPlan& plan, std::span<const TileHolders> lists, Exchange& exchange,
                         ExecutionContext& context, std::span<TileSink* const> sinks);

/// Runs the operators of a fragment as a graph of tasks on tiles, in parallel within and between nodes; a tile is let
/// go after its last reader. The nodes of a loop run once per slice, which frees what it holds before the next. Sinks
/// and errors are as above.
ExecutionProfile run_fragment(const Fragment& fragment, ExecutionContext& context, std::span<TileSink* const> sinks);
/// Of a fragment with one result.
ExecutionProfile run_fragment(const Fragment& fragment, ExecutionContext& context, TileSink& sink);

}  // namespace eindb
