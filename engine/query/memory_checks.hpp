#pragma once

#include <cstdint>

#include "engine/plans/planned_query.hpp"
#include "engine/results/result.hpp"
#include "engine/session/session_state.hpp"

namespace eindb {

/// Refuses a plan that cannot run in the memory limit, before any work is done: Error{MemoryLimit}, which names the
/// least that is needed and a remedy. EXPLAIN still shows such plans.
void check_memory(const OptimizedPlan& plan, const Settings& settings);

/// Refuses results that fit neither in memory nor in the scratch file, before any work is done: Error{MemoryLimit}. Of
/// results of cells these are what counts.
void check_results(const PlannedQuery& planned, const SessionState& session);

/// Refuses likewise to write all values of a result, most of which may be zeros that it does not hold.
void check_all_values(const TensorRelation& result, const SessionState& session);

/// Throws Error{MemoryLimit} for a plan whose kernel calls need `least` bytes of tiles.
[[noreturn]] void refuse_for_calls(const PlannedQuery& planned, std::int64_t least, const Settings& settings);

}  // namespace eindb
