#pragma once

#include <optional>

#include "executor/exchange.hpp"
#include "plan/redistribution_plan.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Runs a redistribution plan on this rank of an exchange; all its ranks call it with the same plan. `block` is the
/// rank's block in plan.source, in row-major order, and the result its block in plan.target(); nullopt: none. The plan
/// must be valid (plan/redistribution_validator).
///
/// A block is packed into pieces, exchanged, and put together from pieces; where the pieces lie in the block as they
/// travel, it is sent or received in place. Beside the two blocks of a step a rank has at most one buffer of the size
/// of each, working_elements() in all, which the caller counts; the old block goes as soon as the step has
/// ended. Uneven pieces are padded to the largest.
/// Errors are those of the exchange, and Error{Corrupt} if a peer sends what the plan does not say.
std::optional<Tile> run_redistribution(const RedistributionPlan& plan, DType dtype, std::optional<Tile> block,
                                       Exchange& exchange);

}  // namespace eindb
