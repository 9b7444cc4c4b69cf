#include "executor/scheduler.hpp"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <optional>

namespace eindb {

struct Scheduler::Arena {
  explicit Arena(int threads) : arena(threads) {
    // Without this oneTBB never starts more threads than there are cores.
    if (threads > tbb::info::default_concurrency())
      more_than_cores.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  }

  std::optional<tbb::global_control> more_than_cores;
  tbb::task_arena arena;
};

Scheduler::Scheduler(int threads)
    : threads_(threads), arena_(threads > 1 ? std::make_unique<Arena>(threads) : nullptr) {}
Scheduler::~Scheduler() = default;

void Scheduler::for_each(std::int64_t count, const std::function<void(std::int64_t)>& task) {
  if (arena_ == nullptr || count < 2) {
    for (std::int64_t n = 0; n < count; ++n) task(n);
    return;
  }
  // One task per index: a task is a tile's worth of work.
  arena_->arena.execute([&] { tbb::parallel_for(std::int64_t{0}, count, task, tbb::simple_partitioner{}); });
}

}  // namespace eindb
