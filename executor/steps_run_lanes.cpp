// Moves beside computations, in two threads.
#include <algorithm>
#include <cstddef>
#include <exception>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "executor/least_memory.hpp"
#include "executor/steps_run.hpp"
#include "plan/local_fragment.hpp"
#include "plan/redistribution_plan.hpp"

namespace eindb {
namespace {

std::int64_t largest_tile(const TileGrid& grid, DType type) {
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < grid.rank(); ++d) {
    const auto parts = grid.partition()[d];
    const auto extent = grid.shape().extents()[d];
    elements = checked_multiply(elements, extent / parts + (extent % parts == 0 ? 0 : 1));
  }
  return checked_multiply(elements, static_cast<std::int64_t>(size_of(type)));
}

}  // namespace

bool StepsRun::overlaps() const {
  const bool computes = std::any_of(plan_.steps.begin(), plan_.steps.end(), [&](const PlanStep& step) {
    const auto* compute = std::get_if<ComputeStep>(&step.op);
    return compute != nullptr && compute->at[rank_].has_value();
  });
  return computes && std::any_of(order_.overlapped.begin(), order_.overlapped.end(), [&](StepId move) {
           const auto size = static_cast<double>(size_of(plan_.step(move).dtype));
           return elements_at_rank(plan_, move) * size >= context_.least_overlap_bytes;
         });
}

void StepsRun::run_lanes() {
  for (const auto id : order_.steps) {
    if (std::holds_alternative<ComputeStep>(plan_.step(id).op)) computations_.push_back(id);
    else if (!std::holds_alternative<ScanStep>(plan_.step(id).op)) ++moves_left_;
  }
  in_use_ = 0;  // by the scans
  std::thread mover;
  try {
    mover = std::thread([this] { move(); });
  } catch (const std::exception&) {  // the system has no memory or no thread for it
    return run_in_order();
  }
  compute_and_write();
  mover.join();
  const std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
}

void StepsRun::do_step(StepId id) {
  run_step(id);
  let_go_after(id);
  {
    const std::lock_guard lock(mutex_);
    is_done_[id.index()] = 1;
    if (sinks_[id.index()] != nullptr) to_write_.push_back(id);
  }
  changed_.notify_all();
}

// Ends what both threads do.
void StepsRun::fail(std::exception_ptr error) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (error_) return;
    error_ = error;
  }
  stop_.request();
  exchange_.abort(std::move(error));
  changed_.notify_all();
}

bool StepsRun::can_begin(StepId id) const {
  const auto inputs = inputs_of(plan_.step(id));
  return std::all_of(inputs.begin(), inputs.end(), [&](StepId input) { return is_done_[input.index()] != 0; });
}

// ---- The caller's thread -------------------------------------------------------------------------------------------

void StepsRun::compute_and_write() noexcept {
  try {
    for (const auto id : order_.steps)
      if (std::holds_alternative<ScanStep>(plan_.step(id).op)) do_step(id);
    do find_next_need();
    while (go_on_computing());
  } catch (...) {
    fail(std::current_exception());
  }
}

// Writes a result or makes the next computation, when either is possible; false when there is nothing left to do.
bool StepsRun::go_on_computing() {
  std::unique_lock lock(mutex_);
  in_use_.reset();
  changed_.notify_all();
  changed_.wait(lock, [&] { return error_ || is_over() || !to_write_.empty() || can_compute(); });
  if (error_ || is_over()) return false;
  const bool writes = !to_write_.empty();
  const auto id = writes ? to_write_.front() : computations_[next_computation_];
  if (writes) {
    to_write_.erase(to_write_.begin());
    in_use_ = bytes_to_write(id);
  } else {
    ++next_computation_;
    in_use_ = std::exchange(next_need_, 0);
  }
  lock.unlock();
  if (writes) write_result(id);
  else do_step(id);
  return true;
}

bool StepsRun::is_over() const {
  return next_computation_ == computations_.size() && to_write_.empty() && moves_left_ == 0;
}

// What the next computation needs, if it has not been found yet. Only this thread goes on to the next one.
void StepsRun::find_next_need() {
  if (next_computation_ == computations_.size() || next_need_ != 0) return;
  const auto id = computations_[next_computation_];
  const auto& compute = std::get<ComputeStep>(plan_.step(id).op);
  const auto need = compute.at[rank_] ? least_memory(local_fragment(plan_, id, rank_)) : 0;
  const std::lock_guard lock(mutex_);
  next_need_ = std::max<std::int64_t>(1, need);
}

// The next computation has what it reads, and enough memory beside what a move has taken.
bool StepsRun::can_compute() const {
  return next_computation_ < computations_.size() && can_begin(computations_[next_computation_]) &&
         (advance_ == 0 || fit_beside(advance_, next_need_));
}

// A computation takes up to half of the limit for its tasks and an eighth for the workspace of kernels, where it could
// do with less, and knows nothing of what was taken in advance. A task that fits the half begins in its turn, whatever
// else is taken, so that sums are added up in the same order as without a move.
bool StepsRun::fit_beside(std::int64_t move, std::int64_t computation) const {
  const auto limit = context_.memory->limit();
  return move <= limit / 4 && computation <= limit / 2 - limit / 8;
}

// Then only the end of a move changes that.
bool StepsRun::is_caller_idle() const {
  return !in_use_ && to_write_.empty() &&
         (next_computation_ == computations_.size() || !can_begin(computations_[next_computation_]));
}

std::int64_t StepsRun::bytes_to_write(StepId id) const {
  const auto& step = plan_.step(id);
  return checked_multiply(std::int64_t{2}, largest_tile(step.grid, step.dtype));
}

// ---- The thread that moves -----------------------------------------------------------------------------------------

void StepsRun::move() noexcept {
  try {
    const CancellationScope scope(context_.cancellation);
    for (const auto id : order_.steps) {
      const auto& op = plan_.step(id).op;
      if (std::holds_alternative<ScanStep>(op) || std::holds_alternative<ComputeStep>(op)) continue;
      move_when_possible(id);
      const std::lock_guard lock(mutex_);
      if (error_) return;
      --moves_left_;
      changed_.notify_all();
    }
  } catch (...) {
    fail(std::current_exception());
  }
}

void StepsRun::move_when_possible(StepId id) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return error_ || can_begin(id); });
  if (error_) return;
  lock.unlock();
  const auto need = bytes_to_move(id);
  lock.lock();
  bool beside = false;
  changed_.wait(lock, [&] { return error_ || is_caller_idle() || (beside = take_advance(need)); });
  if (error_) return;
  lock.unlock();
  is_beside_ = beside;
  std::optional<MemoryBudget::Advance> advance;
  if (beside) advance.emplace(context_.memory, need);
  do_step(id);
  advance.reset();
  lock.lock();
  advance_ = 0;
  changed_.notify_all();
}

bool StepsRun::take_advance(std::int64_t need) {
  if (!fit_beside(need, in_use_.value_or(next_need_)) || !context_.memory->try_reserve(need)) return false;
  advance_ = need;
  return true;
}

// At most: the tiles that the rank gets, the pieces of each layer, the messages of those that travel together, and of
// partial results what has been combined of them and what is in progress; the tiles that it reads, decoded too; what is
// packed for each of the others. Of cells it is not known.
std::int64_t StepsRun::bytes_to_move(StepId id) {
  const auto& step = plan_.step(id);
  const auto input = inputs_of(step).at(0);
  const auto& read = plan_.step(input);
  const auto& source = result(input).layout;
  const auto& target = result(id).layout.emplace(plan_, id, lists_);
  if (step.cells || read.cells) return std::numeric_limits<std::int64_t>::max();
  const auto type = size_of(step.dtype) > size_of(read.dtype) ? step.dtype : read.dtype;
  const auto got = static_cast<std::int64_t>(target.tiles_of(rank_).size());
  const auto given = static_cast<std::int64_t>(source->tiles_of(rank_).size());
  if (got == 0 && given == 0) return 0;
  const auto of_target = checked_multiply(got, largest_tile(step.grid, type));
  const auto of_source = largest_tile(read.grid, type);
  const bool reduces = std::holds_alternative<ReduceStep>(step.op);
  auto need = checked_multiply(of_target, source->layers() + (reduces ? 4 : 2));
  need = checked_add(need, checked_multiply(of_source, 2 * given + static_cast<std::int64_t>(plan_.ranks)));
  const auto* moved = std::get_if<RedistributeStep>(&step.op);
  if (moved == nullptr || !moved->sequence) return need;
  const auto elements = working_elements(*moved->sequence, rank_);
  return checked_add(need, checked_multiply(elements, static_cast<std::int64_t>(size_of(type))));
}

}  // namespace eindb
