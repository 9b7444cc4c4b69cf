#include "executor/kept_runs.hpp"

#include <utility>

#include "common/check.hpp"
#include "executor/plan_run.hpp"

namespace eindb {

std::size_t KeptRuns::approximate_bytes(std::size_t joins) {
  constexpr std::size_t kRun = 512;
  constexpr std::size_t kJoin = 2560;
  return PlanRun::keeps(joins) ? kRun + joins * kJoin : 0;
}

KeptRuns::KeptRuns() = default;
KeptRuns::~KeptRuns() = default;

std::unique_ptr<PlanRun> KeptRuns::take(const Fragment& plan, const ExecutionContext& context) {
  const auto conditions = PlanRun::conditions_of(context);
  std::unique_ptr<PlanRun> kept;
  {
    const std::lock_guard lock(mutex_);
    if (run_ != nullptr && run_->conditions() == conditions) kept = std::move(run_);
  }
  if (kept == nullptr) return std::make_unique<PlanRun>(plan, conditions);
  CHECK(kept->is_of(plan), "what is kept belongs to one plan");
  return kept;
}

void KeptRuns::give(std::unique_ptr<PlanRun> run) {
  if (!run->may_run_again()) return;
  const std::lock_guard lock(mutex_);
  std::swap(run_, run);
}

}  // namespace eindb
