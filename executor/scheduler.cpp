#include "executor/scheduler.hpp"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <optional>

#include "executor/task_order.hpp"

namespace eindb {
namespace {

/// What oneTBB calls. That it finds its members is the library's doing, which ThreadSanitizer does not see: it must not
/// look at this one function.
struct OrderedTask {
  TaskOrder& order;
  const std::function<void(std::int64_t)>& task;

  EINDB_UNSEEN_BY_THREAD_SANITIZER void operator()(std::int64_t n) const {
    [[maybe_unused]] const TaskOrder::Task here(order);
    task(n);
  }
};

/// The same of one of the workers of a task group.
struct OrderedWork {
  TaskOrder& order;
  const std::function<void(std::size_t)>& work;
  std::size_t worker;

  EINDB_UNSEEN_BY_THREAD_SANITIZER void operator()() const {
    [[maybe_unused]] const TaskOrder::Task here(order);
    work(worker);
  }
};

}  // namespace

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
  TaskOrder order;
  const OrderedTask ordered{order, task};
  order.spawn();
  arena_->arena.execute([&] { tbb::parallel_for(std::int64_t{0}, count, ordered, tbb::simple_partitioner{}); });
}

void Scheduler::run_workers(const std::function<void(std::size_t)>& work) {
  if (arena_ == nullptr) return work(0);
  arena_->arena.execute([&] {
    TaskOrder order;
    tbb::task_group others;
    order.spawn();
    for (int n = 1; n < threads_; ++n) others.run(OrderedWork{order, work, static_cast<std::size_t>(n)});
    work(0);
    others.wait();
  });
}

}  // namespace eindb
