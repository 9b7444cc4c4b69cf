#pragma once

#include <cstdint>
#include <functional>

#include "executor/execution_context.hpp"

namespace eindb {

/// Calls f(0) ... f(count - 1) by the scheduler's threads, each as a task of the memory budget that holds nothing when
/// it begins. Calls that find no room beside others are repeated one by one in the end, so `f` must leave nothing
/// behind if it throws Error{MemoryLimit}.
void for_each_in_room(std::int64_t count, const ExecutionContext& context, const std::function<void(std::int64_t)>& f);

}  // namespace eindb
