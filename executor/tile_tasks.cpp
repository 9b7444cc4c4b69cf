#include "executor/tile_tasks.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "common/error.hpp"

namespace eindb {

void for_each_in_room(std::int64_t count, const ExecutionContext& context, const std::function<void(std::int64_t)>& f) {
  std::mutex mutex;  // guards `left`
  std::vector<std::int64_t> left;
  const auto run = [&](std::int64_t n) {
    const MemoryBudget::Task scope(*context.memory);
    context.cancellation.check();
    f(n);
  };
  context.scheduler.for_each(count, [&](std::int64_t n) {
    try {
      run(n);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::MemoryLimit) throw;
      const std::lock_guard lock(mutex);
      left.push_back(n);
    }
  });
  std::for_each(left.begin(), left.end(), run);
}

}  // namespace eindb
