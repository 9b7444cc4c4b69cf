#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "common/check.hpp"

namespace eindb {

/// A task of a stage.
struct TaskId {
  std::size_t stage = 0;
  std::int64_t number = 0;
  friend bool operator==(const TaskId&, const TaskId&) = default;
};

/// The tasks that can run, the most urgent first. Tasks that read results of other tasks precede all others, later
/// stages before earlier ones: results are consumed while they are in the cache, and their memory is freed. Tasks that
/// read only tiles from before the region, the roots, follow in the order of the plan. Within a stage, tasks are in
/// order. Roots take no memory.
///
/// Example: stage 1 reads stage 0, which has roots 0 to 3. The order is 0.0 1.0 0.1 1.1 ... , not 0.0 0.1 0.2 ...
///
/// Not thread-safe.
class ReadyQueue {
 public:
  void add_roots(std::size_t stage, std::int64_t count) {
    CHECK(count > 0, "a stage has tasks");
    roots_.push_back({stage, count});
  }
  /// Makes the queue empty, for other stages; it keeps its memory.
  void clear() {
    ready_.clear();
    roots_.clear();
    next_stage_ = 0;
    next_number_ = 0;
  }
  void push(TaskId task) {
    ready_.push_back(rank(task));
    std::push_heap(ready_.begin(), ready_.end());
  }
  std::optional<TaskId> pop();

  static bool less_urgent(TaskId a, TaskId b) { return rank(a) < rank(b); }
  /// Whether the queue has no task of a later stage.
  bool is_urgent(TaskId task) const { return ready_.empty() || task.stage >= ready_.front() >> kNumberBits; }
  bool empty() const { return ready_.empty() && next_stage_ == roots_.size(); }

 private:
  struct Roots {
    std::size_t stage;
    std::int64_t count;
  };
  static constexpr int kNumberBits = 40;
  static constexpr std::uint64_t kNumbers = (std::uint64_t{1} << kNumberBits) - 1;

  // Larger is more urgent.
  static std::uint64_t rank(TaskId task) {
    DCHECK(task.number >= 0 && static_cast<std::uint64_t>(task.number) <= kNumbers, "a task's number has 40 bits");
    return std::uint64_t{task.stage} << kNumberBits | (kNumbers - static_cast<std::uint64_t>(task.number));
  }

  std::vector<std::uint64_t> ready_;  // a heap of ranks
  std::vector<Roots> roots_;
  std::size_t next_stage_ = 0;  // index into roots_
  std::int64_t next_number_ = 0;
};

inline std::optional<TaskId> ReadyQueue::pop() {
  if (!ready_.empty()) {
    std::pop_heap(ready_.begin(), ready_.end());
    const auto rank = ready_.back();
    ready_.pop_back();
    return TaskId{static_cast<std::size_t>(rank >> kNumberBits),
                  static_cast<std::int64_t>(kNumbers - (rank & kNumbers))};
  }
  if (next_stage_ == roots_.size()) return std::nullopt;
  const TaskId task{roots_[next_stage_].stage, next_number_};
  if (++next_number_ == roots_[next_stage_].count) {
    ++next_stage_;
    next_number_ = 0;
  }
  return task;
}

}  // namespace eindb
