#pragma once

#include <cstdint>
#include <memory>

#include "executor/join_operator.hpp"
#include "executor/stage.hpp"
#include "plan/fragment.hpp"

namespace eindb {

/// The smallest MemoryBudget in which the plan runs, with any number of threads: the memory of the largest task and its
/// kernel's workspace, if everything else is in the scratch file. Tiles that several slices add to always stay in
/// memory. A smaller budget is insufficient, a larger one always sufficient.
std::int64_t least_memory(const Fragment& plan);

/// The workspace that a kernel may always take.
inline constexpr std::int64_t kSmallWorkspace = 256 * 1024;

/// The operator for a stage's join, for threads with this workspace. The plan must outlive it.
std::unique_ptr<JoinOperator> join_operator(const Fragment& plan, const Stage& stage, std::int64_t workspace);

}  // namespace eindb
