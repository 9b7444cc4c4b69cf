#pragma once

#include <cstdint>
#include <memory>

#include "executor/join_operator.hpp"
#include "executor/stage.hpp"
#include "plan/physical_plan.hpp"

namespace eindb {

/// The smallest MemoryBudget in which the plan can be executed, with any number of threads: what one task holds, the
/// largest, with its kernel's workspace, when all else is put aside. Tiles of several slices that are added up are
/// never put aside. What is less than this is too little, and anything more is enough.
std::int64_t least_memory(const PhysicalPlan& plan);

/// The workspace that a kernel may always take.
inline constexpr std::int64_t kSmallWorkspace = 256 * 1024;

/// The join of a stage, for threads with so much workspace. The plan outlives it.
std::unique_ptr<JoinOperator> join_operator(const PhysicalPlan& plan, const Stage& stage, std::int64_t workspace);

}  // namespace eindb
